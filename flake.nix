{
  description = "Blind rounds among AI participants: one frozen context, sealed answers, ballots that count";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});
      manifest = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).package;
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = manifest.name;
          version = manifest.version;
          src = self;
          buildFeatures = [ "full" ];
          cargoLock.lockFile = ./Cargo.lock;
          # The tests want terminals, git and a writable home; .ci/run runs them.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            $out/bin/roundtable man --out man1
            installManPage man1/*.1
            for shell in bash fish zsh; do
              $out/bin/roundtable completions $shell > roundtable.$shell
              installShellCompletion --cmd roundtable --$shell roundtable.$shell
            done
          '';
          meta = {
            description = manifest.description;
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "roundtable";
          };
        };
      });
    };
}
