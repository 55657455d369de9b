// Looks at report pages in a real browser: accessibility (axe-core), no overflow at 390 px and 1280 px, the first
// page on one A4 sheet, no request leaves the file, and a replay page that checks itself and tells a changed byte.
//
//   tests/pages/run.sh                                  all examples; installs what this needs
//   NODE_PATH=node_modules node check.mjs PAGE.html ...  axe-core, puppeteer-core; CHROMIUM, FIREFOX: paths
//
// "One sheet" means: printed by Chromium to PDF with the page's own style, the page up to "The whole record" has one
// page.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const puppeteer = require('puppeteer-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--no-first-run'],
});
const firefox = process.env.FIREFOX
  ? await puppeteer.launch({ browser: 'firefox', executablePath: process.env.FIREFOX })
  : null;
let faults = 0;
const fault = (page, words) => { faults++; console.log(`${basename(page)}: ${words}`); };

function watch(page, file) {
  page.on('request', request => {
    if (!/^(file|blob|data):/.test(request.url())) fault(file, `asks for ${request.url()}`);
  });
  page.on('dialog', dialog => { fault(file, `a dialog opened: ${dialog.message()}`); dialog.dismiss(); });
}

async function open(file, width, scheme) {
  const page = await browser.newPage();
  await page.setBypassCSP(true);
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  watch(page, file);
  await page.goto(pathToFileURL(resolve(file)).href);
  return page;
}

for (const file of process.argv.slice(2)) {
  for (const [width, scheme] of [[1280, 'light'], [1280, 'dark'], [390, 'light']]) {
    const page = await open(file, width, scheme);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    if (over > 0) fault(file, `${over} px wider than the window at ${width} px`);
    await page.evaluate(() => document.querySelectorAll('details').forEach(one => { one.open = true; }));
    await page.evaluate(axe);
    const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    for (const one of found.violations) {
      fault(file, `${width} px ${scheme}: ${one.id} (${one.impact}): ${one.nodes.length} × ${one.nodes[0].html.slice(0, 120)}`);
    }
    await page.close();
  }
  const print = await open(file, 1280, 'light');
  await print.evaluate(() => {
    const record = document.querySelector('.rec');
    while (record.nextSibling) record.nextSibling.remove();
    record.remove();
  });
  const sheets = Buffer.from(await print.pdf({ preferCSSPageSize: true })).toString('latin1').match(/\/Type\s*\/Page\b/g).length;
  if (sheets > 1) fault(file, `the first page needs ${sheets} sheets`);
  await print.close();
  if (readFileSync(file, 'utf8').includes('id="replay"')) {
    await replay(browser, file);
    if (firefox) await replay(firefox, file);
  }
}

// The page says that it is whole; with one byte of its record changed it names the document.
async function replay(browser, file) {
  const result = async path => {
    const page = await browser.newPage();
    watch(page, path);
    await page.goto(pathToFileURL(resolve(path)).href);
    let words = 'Checking';
    // Not `waitForFunction`: it needs `eval`, which the page forbids.
    for (const end = Date.now() + 60000; words.startsWith('Checking') && Date.now() < end;) {
      await new Promise(done => setTimeout(done, 50));
      words = await page.$eval('#rp-check', node => node.textContent);
    }
    await page.$eval('#rp-next', node => { for (let i = 0; i < 5; i++) node.click(); });
    const seats = await page.$$eval('#rp-stage li', nodes => nodes.length);
    await page.close();
    return { words, seats };
  };
  const whole = await result(file);
  if (!whole.words.startsWith('✓')) fault(file, whole.words);
  if (!whole.seats) fault(file, 'the replay shows no seat');
  const text = readFileSync(file, 'utf8');
  const from = text.indexOf('id="s2s"');
  const at = text.indexOf('ballot_sealed', from);
  const number = [...text.slice(from, at).matchAll(/\\nseq: (\d+)\\n/g)].pop()[1];
  const changed = join(mkdtempSync(join(tmpdir(), 'page-')), 'changed.html');
  writeFileSync(changed, `${text.slice(0, at)}ballot_sealeD${text.slice(at + 13)}`);
  const { words } = await result(changed);
  if (!words.startsWith('✕') || !words.includes(`document ${number}:`)) fault(file, `a changed byte in document ${number} is reported as: ${words}`);
}

await browser.close();
await firefox?.close();
console.log(`${process.argv.length - 2} pages, ${faults} faults${firefox ? '; replay in Firefox too' : ''}`);
process.exit(faults ? 1 : 0);
