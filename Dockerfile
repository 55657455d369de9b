# docker build -t roundtable . && docker run --rm -it -v "$PWD:/work" roundtable
FROM rust:1.89-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked --features full

FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates git \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/target/release/roundtable /usr/local/bin/roundtable
# Sessions and settings of the user are in /home/roundtable, the project in /work.
RUN useradd --create-home --uid 1000 roundtable
USER roundtable
WORKDIR /work
ENTRYPOINT ["roundtable"]
