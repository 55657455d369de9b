// A person votes by a link, in Chromium over http and in Firefox over a certificate that `serve` made: every
// ballot kind, at 360 px in light and dark, by keyboard and by touch, without a connection and with a reload
// between seal and post, in a second browser that must be refused, by a link of another session, over plain http
// to another machine, too late, and excused. The files verify.
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
const pause = ms => new Promise(done => setTimeout(done, ms));
// Not `waitForFunction`: it needs `eval`, which the page forbids.
const until = async (page, holds, ...given) => {
  for (const end = Date.now() + 60000; !await page.evaluate(holds, ...given);) {
    if (Date.now() > end) throw Error('it does not come');
    await pause(100);
  }
};
const isAsked = question => !document.getElementById('form').hidden && (!question || document.getElementById('question').textContent === question);
let faults = 0;

// Serves a definition; its file, its links by seat, and what it said.
const serve = async (name, definition, options) => {
  const served = { file: join(folder, `${name}.s2s`), links: {}, said: '' };
  const links = join(folder, `${name}.links`);
  const words = ['serve', join(here, definition), '--bind', '127.0.0.1:0', '--links', links, '--save', served.file, '--linger', '60', ...options];
  served.process = spawn(program, words, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  served.process.stderr.on('data', data => { served.said += data; });
  while (!existsSync(links) || !readFileSync(links, 'utf8').endsWith('\n')) {
    if (served.process.exitCode !== null) throw Error(served.said);
    await pause(50);
  }
  for (const line of readFileSync(links, 'utf8').trim().split('\n')) {
    const [seat, link] = line.split(' ');
    served.links[seat] = link;
  }
  return served;
};

// One browser, and what a person does in it.
const opened = async ({ name, launch, options, isChromium }) => {
  const fault = what => { faults += 1; console.log(`ballot page in ${name}: ${what}`); };
  const browser = await puppeteer.launch(launch);
  const open = async (link, context = browser) => {
    const page = await context.newPage();
    const seen = text => { if (!/409|410|ERR_INTERNET_DISCONNECTED|favicon/.test(text)) fault(text); };
    page.on('pageerror', error => seen(error.message));
    page.on('console', message => { if (message.type() === 'error') seen(message.text()); });
    if (isChromium) await page.setViewport({ width: 360, height: 780, hasTouch: true });
    await page.goto(link);
    return page;
  };
  // The page's own requests fail, until `online` or a reload; what was to be posted last is `window.posted`.
  const cut = page => page.evaluate(() => {
    window.online ||= window.fetch;
    window.fetch = (_, init) => { window.posted = init?.body ?? window.posted; return Promise.reject(new TypeError('offline')); };
  });
  // Firefox cannot be put offline from here.
  const offline = page => isChromium ? page.setOfflineMode(true) : cut(page);
  const online = page => isChromium ? page.setOfflineMode(false) : page.evaluate(() => { window.fetch = window.online; });
  const says = (page, id, words, what) => until(page, (id, words) => document.getElementById(id).textContent.includes(words), id, words)
    .catch(async () => fault(`${what}: ${await page.$eval('#' + id, node => node.textContent)}`));
  return { name, options, isChromium, fault, browser, open, cut, offline, online, says };
};

// Who may not vote: in a second browser, by a link of another session, over plain http to another machine.
const refusals = async ({ isChromium, fault, browser, open, says }, link) => {
  const other = await browser.createBrowserContext();
  await says(await open(link, other), 'problem', 'another browser', 'a second browser is not refused');
  await other.close();
  const stranger = await browser.newPage();
  const sent = [];
  stranger.on('request', request => { if (request.method() === 'POST') sent.push(new URL(request.url()).pathname); });
  await stranger.goto(link.replace(/[^.]*$/, 'A'.repeat(22)));
  await says(stranger, 'problem', 'The question does not come from whoever sent you the link. Nothing was sent.', 'a link of another session is not refused');
  if (!await stranger.$eval('#form', form => form.hidden)) fault('a question of another session can be answered');
  if (sent.some(path => path !== '/v1/seat/key')) fault(`a link of another session sends ${sent}`);
  await stranger.close();
  if (!isChromium) return;
  // A name that leads here: see `launch` below.
  const plain = await open(link.replace('127.0.0.1', 'votes.example'));
  await says(plain, 'problem', 'This browser cannot seal over plain http.', 'plain http is not explained');
  await plain.close();
};

// Eve's ballot is sealed here and delivered after the close; Fay is excused, which no option of `serve` does.
const tooLate = async ({ name, options, browser, open, offline, online, says }) => {
  const served = await serve(`${name}-late`, 'late.yaml', options);
  const [dana, eve] = [await open(served.links.dana), await open(served.links.eve)];
  const vote = async page => {
    await page.bringToFront();
    await until(page, isAsked);
    await page.focus('#form input[type=radio]');
    await page.keyboard.press(' ');
    await page.focus('#form button[type=submit]');
    await page.keyboard.press('Enter');
  };
  const fay = await browser.newPage();
  await fay.setRequestInterception(true);
  const excused = { contentType: 'application/json', body: '{"v":2,"kind":"state","state":"excused"}' };
  fay.on('request', request => request.url().endsWith('/v1/seat') ? request.respond(excused) : request.continue());
  await fay.goto(served.links.fay);
  await says(fay, 'status', 'You were excused', 'an excused seat is not told');
  await eve.bringToFront();
  await until(eve, isAsked);
  await offline(eve);
  await vote(eve);
  await says(eve, 'status', 'not delivered yet', 'offline is not said');
  await vote(dana);
  await says(dana, 'result-text', 'Decided: redis', 'no result');
  await eve.bringToFront();
  await online(eve);
  await says(eve, 'problem', 'Too late: the round was closed.', 'a late ballot is not refused in words');
  for (const page of [dana, eve, fay]) await page.close();
  served.process.kill();
  execFileSync(program, ['verify', served.file], { env });
};

// Everything a person may meet, in one browser.
const story = async setting => {
  const told = await opened(setting);
  const { name, options, isChromium, fault, browser, open, cut, offline, online, says } = told;
  const server = await serve(name, 'ballot.yaml', options);
  const link = server.links.dana, file = server.file;
  const page = await open(link);
  const text = id => page.$eval('#' + id, node => node.textContent);
  const asked = async question => {
    await until(page, isAsked, question)
      .catch(async () => { throw Error(`${question}: ${await text('status')} ${await text('problem')} ${server.said}`); });
    for (const scheme of isChromium ? ['light', 'dark'] : ['dark']) {
      if (isChromium) await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (over > 0) fault(`${question} ${over} px too wide at 360 px`);
      await page.evaluate(axe);
      const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
      for (const one of found.violations) fault(`${question} ${scheme}: ${one.id}: ${one.nodes[0].html.slice(0, 120)} ${one.nodes[0].failureSummary}`);
    }
  };
  const field = label => page.evaluateHandle(wanted => {
    const found = [...document.querySelectorAll('#form label')].filter(one => one.textContent.trim().startsWith(wanted));
    const one = found[found.length - 1];
    return one && (one.control || one.querySelector('input'));
  }, label);
  const type = async (label, value) => { await (await field(label)).focus(); await page.keyboard.type(value); };
  const pick = async label => { await (await field(label)).focus(); await page.keyboard.press(' '); };
  const tap = async label => { const one = await field(label); await (isChromium ? one.tap() : one.click()); };
  const choose = async (label, value) => { const one = await field(label); await one.focus(); await page.evaluate((node, to) => { node.value = to; }, one, value); };
  const send = async () => { await page.focus('#form button[type=submit]'); await page.keyboard.press('Enter'); };

  await asked('Which store?');
  const background = await text('background');
  for (const word of ['Settle how we store things', 'Two hosts', 'Redis is fast: it needs a server.\nSqlite needs none.', 'REQ-1: Fast reads', 'Under 10 ms:\nmost of the time']) {
    if (!background.includes(word)) fault(`the background lacks ${word}: ${background}`);
  }
  await page.screenshot({ path: join(folder, `${name}-background.png`), fullPage: true });
  if (await page.evaluate(() => location.hash)) fault('the token stays in the address bar');
  await refusals(told, link);
  await page.bringToFront();
  await pick('redis');
  await type('Your reasons', 'Größe zählt');
  await offline(page);
  await send();
  await says(page, 'status', 'not delivered yet', 'offline is not said');
  await online(page);
  await asked('Which will do?');
  await send();
  await says(page, 'problem', 'You ticked nothing', 'an empty ballot is not asked about');
  await tap('sqlite'); await tap('files');
  await cut(page);
  await send();
  await says(page, 'status', 'not delivered yet', 'offline is not said');
  const kept = JSON.parse(await page.evaluate(() => window.posted));
  await page.reload();
  await asked('In what order?');
  await choose('sqlite', '1'); await choose('files', '2'); await choose('redis', '2'); await send();
  await asked('How good?');
  for (const [name, mark] of [['score 0', 2], ['score 1', 4]]) { await page.focus(`#form [name="${name}"][value="${mark}"]`); await page.keyboard.press(' '); }
  await type('Your reasons', 'kept');
  await pause(300);
  await page.reload();
  await asked('How good?');
  if (await page.$eval('#form textarea', field => field.value) !== 'kept') fault('what was typed is gone after a reload');
  await send();
  await asked('How large?');
  await pick('5'); await send();
  await asked('How many days?');
  await type('A number', '3'); await choose('How sure you are', '0.5'); await send();
  await asked('May it be released?');
  await pick('block'); await type('The smallest change', 'Name an owner.'); await send();
  await asked('What do you think?');
  await type('In your own words', '  '); await send();
  await says(page, 'problem', 'Write your position, or abstain.', 'blanks are sent as a position');
  await type('In your own words', 'It is sound, and slow.'); await send();
  await asked('What could be done?');
  await type('Title', 'Queue'); await type('The idea', 'Let writes wait.'); await send();
  await asked('What is wrong?');
  await choose('Severity', 'high'); await type('What is wrong', 'It leaks.'); await type('File', 'src/a.rs'); await type('Lines', '10-12'); await send();
  await asked('Once more?');
  if (!(await text('done')).includes('What is wrong?')) fault('an answer that was sealed is not in view');
  // A second tab, in which somebody types before the first one votes.
  const twin = await open(link);
  await twin.bringToFront();
  await until(twin, isAsked, 'Once more?');
  await twin.focus('#form textarea');
  await twin.keyboard.type('typed here');
  await page.bringToFront();
  await pick('I abstain'); await send();
  await until(page, () => !document.getElementById('result').hidden).catch(() => fault('no result'));
  await twin.bringToFront();
  await says(twin, 'result-text', 'It is the one that your receipt is for.', 'a second tab has no receipt');
  await twin.close();
  await page.bringToFront();
  const result = await text('result-text');
  if (!/receipt is for\.[^]*(answers|Dissent) \(1\)/.test(result)) fault(`the result says: ${result}`);
  const receipt = await text('receipt-text');
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
  await page.close();
  server.process.kill();
  await tooLate(told);
  await browser.close();
  const checked = execFileSync(program, ['verify', file, '--receipt', receipt], { env }).toString();
  if (!checked.includes('11 ballots are signed')) fault(checked);
  const events = execFileSync(program, ['replay', file, '--json'], { env }).toString().trim().split('\n').map(line => JSON.parse(line));
  const sealed = events.find(one => one.event === 'ballot_sealed' && one.participant === 'dana' && one.round === 'approval');
  if (sealed.commitment !== kept.commitment || sealed.enc !== kept.enc) fault('after a reload another answer is posted than was sealed');
  const answers = events.filter(one => one.event === 'answer_revealed' && one.participant === 'dana');
  const given = answers.map(one => JSON.stringify(one.ballot ?? one.reason)).join(' ');
  const expected = '{"choice":"redis"} {"approval":["sqlite","files"]} {"ranking":[["sqlite"],["redis","files"]]} {"scores":{"redis":2,"sqlite":4}} {"estimate":"5"} {"estimate":3} {"consent":["block","Name an owner."]} "position" {"ideas":[{"title":"Queue","text":"Let writes wait."}]} {"findings":[{"file":"src/a.rs","lines":[10,12],"severity":"high","claim":"It leaks."}]} "abstain"';
  if (given !== expected) fault(`answers: ${given}`);
  console.log(`ballot page in ${name}: ${answers.length} ballots`);
};

const chromium = ['--no-sandbox', '--host-resolver-rules=MAP votes.example 127.0.0.1'];
await story({ name: 'Chromium', isChromium: true, options: [], launch: { executablePath: process.env.CHROMIUM, args: chromium } });
if (process.env.FIREFOX) {
  const launch = { browser: 'firefox', executablePath: process.env.FIREFOX, acceptInsecureCerts: true, defaultViewport: null, extraPrefsFirefox: { 'ui.systemUsesDarkTheme': 1 } };
  await story({ name: 'Firefox', isChromium: false, options: ['--self-signed'], launch });
}
console.log(`ballot page: ${faults} faults`);
process.exit(faults ? 1 : 0);
