// Looks at report pages in a real browser: accessibility (axe-core), no overflow at 390 px and 1280 px, the first
// page on one A4 sheet, and no request leaves the file.
//
//   tests/pages/run.sh                                  all examples; installs what this needs
//   NODE_PATH=node_modules node check.mjs PAGE.html ...  axe-core, puppeteer-core; CHROMIUM: its path
//
// "One sheet" means: printed by Chromium to PDF with the page's own style, the page up to "The whole record" has one
// page.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const puppeteer = require('puppeteer-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--no-first-run'],
});
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
}

await browser.close();
console.log(`${process.argv.length - 2} pages, ${faults} faults`);
process.exit(faults ? 1 : 0);
