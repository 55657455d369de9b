// A person votes by a link in Chromium: every ballot kind, at 360 px in light and dark, by keyboard, without
// a connection between seal and post, in a second browser that must be refused; the file verifies.
//
//   node ballot.mjs PROGRAM FOLDER
import { spawn, execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(join(process.env.NODE_PATH, 'x'));
const puppeteer = require('puppeteer-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const [program, folder] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const env = { ...process.env, ROUNDTABLE_HOME: join(folder, 'home') };
const file = join(folder, 'ballot.s2s'), links = join(folder, 'links');
const server = spawn(program, ['serve', join(here, 'ballot.yaml'), '--bind', '127.0.0.1:0', '--links', links, '--save', file, '--linger', '60'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
let said = '';
server.stderr.on('data', data => { said += data; });
let faults = 0;
const fault = what => { faults += 1; console.log(`ballot page: ${what}`); };
const pause = ms => new Promise(done => setTimeout(done, ms));
while (!existsSync(links) || !readFileSync(links, 'utf8').includes('\n')) {
  if (server.exitCode !== null) throw Error(said);
  await pause(50);
}
const link = readFileSync(links, 'utf8').trim().split(' ')[1];

const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
const page = await browser.newPage();
page.on('pageerror', error => fault(error.message));
page.on('console', message => { if (message.type() === 'error' && !message.text().includes('409') && !message.text().includes('ERR_INTERNET_DISCONNECTED')) fault(message.text()); });
await page.setViewport({ width: 360, height: 780 });
await page.goto(link);
const text = id => page.$eval('#' + id, node => node.textContent);
const asked = async question => {
  await page.waitForFunction(wanted => document.getElementById('question').textContent === wanted && !document.getElementById('form').hidden, { timeout: 20000 }, question)
    .catch(async () => { throw Error(`${question}: ${await text('status')} ${await text('problem')} ${said}`); });
  for (const scheme of ['light', 'dark']) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    if (over > 0) fault(`${question} ${over} px too wide at 360 px`);
    await page.evaluate(axe);
    const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    for (const one of found.violations) fault(`${question} ${scheme}: ${one.id}: ${one.nodes[0].html.slice(0, 120)}`);
  }
};
const field = label => page.evaluateHandle(wanted => {
  const found = [...document.querySelectorAll('#form label')].filter(one => one.textContent.trim().startsWith(wanted));
  const one = found[found.length - 1];
  return one && (one.control || one.querySelector('input'));
}, label);
const type = async (label, value) => { await (await field(label)).focus(); await page.keyboard.type(value); };
const pick = async label => { await (await field(label)).focus(); await page.keyboard.press('Space'); };
const choose = async (label, value) => { const one = await field(label); await one.focus(); await page.evaluate((node, to) => { node.value = to; }, one, value); };
const send = async () => { await page.focus('#form button[type=submit]'); await page.keyboard.press('Enter'); };

await asked('Which store?');
if (await page.evaluate(() => location.hash)) fault('the token stays in the address bar');
// A second browser, and a link whose question is not signed by the session.
const other = await browser.createBrowserContext();
const second = await other.newPage();
await second.goto(link);
await second.waitForFunction(() => document.getElementById('problem').textContent.includes('another browser'), { timeout: 20000 }).catch(() => fault('a second browser is not refused'));
await other.close();
await pick('redis');
await type('Your reasons', 'Größe zählt');
await page.setOfflineMode(true);
await send();
await page.waitForFunction(() => document.getElementById('status').textContent.includes('not delivered yet'), { timeout: 20000 }).catch(() => fault('offline is not said'));
await page.setOfflineMode(false);
await asked('Which will do?');
await pick('sqlite'); await pick('files'); await send();
await asked('In what order?');
await choose('sqlite', '1'); await choose('files', '2'); await choose('redis', '2'); await send();
await asked('How good?');
await type('redis', '2'); await type('sqlite', '4.5'); await send();
await asked('How large?');
await pick('5'); await send();
await asked('How many days?');
await type('A number', '3'); await type('How sure you are', '0.5'); await send();
await asked('May it be released?');
await pick('block'); await type('The smallest change', 'Name an owner.'); await send();
await asked('What do you think?');
await type('In your own words', 'It is sound, and slow.'); await send();
await asked('What could be done?');
await type('Title', 'Queue'); await type('The idea', 'Let writes wait.'); await send();
await asked('What is wrong?');
await choose('Severity', 'high'); await type('What is wrong', 'It leaks.'); await type('File', 'src/a.rs'); await type('Lines', '10-12'); await send();
await asked('Once more?');
await pick('I abstain'); await send();
await page.waitForFunction(() => !document.getElementById('result').hidden, { timeout: 20000 }).catch(() => fault('no result'));
const result = await text('result-text');
if (!result.includes('It is the one that your receipt is for.')) fault(`the result says: ${result}`);
const receipt = await text('receipt-text');
await page.screenshot({ path: join(folder, 'result.png'), fullPage: true });
await browser.close();
const checked = execFileSync(program, ['verify', file, '--receipt', receipt], { env }).toString();
if (!checked.includes('11 ballots are signed')) fault(checked);
const events = execFileSync(program, ['replay', file, '--json'], { env }).toString().trim().split('\n').map(line => JSON.parse(line));
const answers = events.filter(one => one.event === 'answer_revealed' && one.participant === 'dana');
const given = answers.map(one => JSON.stringify(one.ballot ?? one.reason)).join(' ');
const expected = '{"choice":"redis"} {"approval":["sqlite","files"]} {"ranking":[["sqlite"],["redis","files"]]} {"scores":{"redis":2,"sqlite":4.5}} {"estimate":"5"} {"estimate":3} {"consent":["block","Name an owner."]} "position" {"ideas":[{"title":"Queue","text":"Let writes wait."}]} {"findings":[{"file":"src/a.rs","lines":[10,12],"severity":"high","claim":"It leaks."}]} "abstain"';
if (given !== expected) fault(`answers: ${given}`);
server.kill();
console.log(`ballot page: ${answers.length} ballots, ${faults} faults`);
process.exit(faults ? 1 : 0);
