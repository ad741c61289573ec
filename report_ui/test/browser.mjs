// A real Chromium, headless, with a page in it; what the tests of both pages share.
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const axeSource = readFileSync(join(root, 'node_modules/axe-core/axe.min.js'), 'utf8');
export const kMostBytes = 5e6;

export const launch = () =>
  chromium.launch({
    timeout: 120000, executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });

/** Processor time of all of Chromium's processes in ms, which the load of the machine changes little. */
async function processorMs(cdp) {
  const { processInfo } = await cdp.send('SystemInfo.getProcessInfo');
  return 1000 * processInfo.reduce((sum, one) => sum + one.cpuTime, 0);
}

/** Opens a file with the network off. Returns {page, errors, requests, ready, busy}: ready is ms from navigation to what
 * the window shows, busy the ms that Chromium's processes worked for it. */
export async function open(browser, file, scheme = 'light') {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    colorScheme: scheme,
    offline: true,
  });
  context.setDefaultTimeout(120000);
  const page = await context.newPage();
  const errors = [];
  const requests = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error.stack ?? error)));
  page.on('request', (request) => {
    if (!/^(file|data):/.test(request.url())) requests.push(request.url());
  });
  const cdp = await browser.newBrowserCDPSession();
  const before = await processorMs(cdp);
  const begun = performance.now();
  await page.goto(pathToFileURL(file).href);
  await page
    .waitForFunction(() => document.documentElement.dataset.ready === 'true', null, {
      timeout: 120000,
    })
    .catch((error) => {
      throw new Error(`${error.message}; the page said: ${errors.join('\n')}`);
    });
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
  const ready = performance.now() - begun;
  const busy = (await processorMs(cdp)) - before;
  return { page, errors, requests, ready, busy };
}

/** axe-core's findings, as text; empty when there are none. */
export async function violations(page) {
  await page.evaluate(axeSource);
  const result = await page.evaluate(() =>
    window.axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    }),
  );
  assert.ok(result.passes.length > 15, 'axe has looked at next to nothing');
  return result.violations.map(
    (v) =>
      `${v.id}: ${v.help}: ${v.nodes
        .map((n) => n.html)
        .slice(0, 3)
        .join(' | ')}`,
  );
}

export function assertSmall(file) {
  assert.ok(statSync(file).size < kMostBytes, `${file} has ${statSync(file).size} bytes`);
}

/** Nothing wider than the window: no scrolling sideways. */
export async function assertFits(page) {
  const [content, window] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  assert.ok(content <= window, `the page is ${content} wide in a window of ${window}`);
}

/** The texts of a table's column. */
export const column = (page, label, number) =>
  page.locator(`table[aria-label="${label}"] tbody tr td:nth-child(${number})`).allTextContents();

/** Scrolls a section's chart into the window, where it is drawn. */
export async function bring(page, selector) {
  await page.locator(`${selector} .chart`).first().scrollIntoViewIfNeeded();
  await page.locator(`${selector} canvas`).first().waitFor();
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}

/** How many pixels of a section's chart are drawn on. */
export async function inked(page, selector) {
  await bring(page, selector);
  return page
    .locator(`${selector} canvas`)
    .first()
    .evaluate((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 3; i < data.length; i += 4) count += data[i] > 0;
      return count;
    });
}

/** Charts outside the window are drawn when it comes to them, or before printing. */
export async function drawAll(page) {
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  await page.waitForTimeout(500);
}
