import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertFits, assertSmall, column, drawAll, inked, launch, open, violations } from './browser.mjs';

const file = process.env.RUN_HTML;
let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser.close();
});

test('opens small, quickly and silently', async () => {
  assertSmall(file);
  const { page, errors, requests, ready, busy } = await open(browser, file);
  console.log(
    `run page: ready after ${ready.toFixed(0)} ms, ${busy.toFixed(0)} ms of processor time`,
  );
  await assertFits(page);
  for (const id of [
    'timeline',
    'roofline',
    'layers-and-their-bounds',
    'energy-of-layers',
    'memory-over-time',
    'power-over-time',
    'memory-traffic-over-time',
  ])
    assert.ok((await inked(page, `#${id}`)) > 500, `${id} shows nothing`);
  assert.deepEqual(errors, []);
  assert.deepEqual(requests, []);
  await page.context().close();
});

test('has no findings of axe, light and dark', async () => {
  for (const scheme of ['light', 'dark']) {
    const { page } = await open(browser, file, scheme);
    await page.locator('details summary').evaluateAll((all) => all.forEach((one) => one.click()));
    assert.deepEqual(await violations(page), [], scheme);
    assert.equal(await page.locator('html').getAttribute('data-theme'), scheme);
    await page.locator('#theme').click();
    assert.equal(
      await page.locator('html').getAttribute('data-theme'),
      scheme === 'light' ? 'dark' : 'light',
    );
    assert.deepEqual(await violations(page), [], `${scheme}, toggled`);
    if (process.env.SHOTS && scheme === 'light') await shots(page);
    await page.context().close();
  }
});

async function shots(page) {
  await page.screenshot({ path: `${process.env.SHOTS}/run_dark.png` });
  await page.locator('#theme').click();
  await page.locator('details summary').evaluateAll((all) => all.forEach((one) => one.click()));
  await drawAll(page);
  await page.screenshot({ path: `${process.env.SHOTS}/run_light.png`, fullPage: true });
}

test('the layer table sorts by keyboard', async () => {
  const { page, errors } = await open(browser, file);
  const head = page.locator('table[aria-label="Operators"] thead th', { hasText: 'own time' });
  await head.locator('button').focus();
  await page.keyboard.press('Enter');
  assert.equal(await head.getAttribute('aria-sort'), 'descending');
  const own = await page.evaluate(() => {
    const { report, machine } = JSON.parse(document.getElementById('data').textContent);
    const ns = (op) =>
      op.engine === 'npu' ? (op.own_cycles / machine.npu_clock_mhz) * 1000 : op.latency_ns;
    return report.ops
      .map((op) => [ns(op), op.index])
      .sort((a, b) => b[0] - a[0])
      .map((pair) => String(pair[1]));
  });
  assert.deepEqual((await column(page, 'Operators', 1)).slice(0, 5), own.slice(0, 5));
  await page.keyboard.press('Space');
  assert.equal(await head.getAttribute('aria-sort'), 'ascending');
  assert.deepEqual(errors, []);
  await page.context().close();
});

test('the timeline answers to keys, buttons, pointer and the layer table', async () => {
  const { page, errors } = await open(browser, file);
  const live = page.locator('#timeline output');
  await page.locator('#timeline .keys').focus();
  await page.keyboard.press('ArrowDown');
  const first = await live.textContent();
  assert.match(first, /^[a-z.]+: /);
  await page.keyboard.press('n');
  assert.notEqual(await live.textContent(), first);
  for (const key of ['+', '+', 'ArrowRight', '-', 'End', 'Home']) await page.keyboard.press(key);
  await page.getByRole('button', { name: 'Next unit' }).click();
  const shown = page.locator('table[aria-label="Operators"] tbody button').nth(3);
  const name = await shown.textContent();
  await shown.click();
  assert.ok((await live.textContent()).includes(name), 'the timeline does not tell what it shows');

  // Over the middle of the plot some lane has a slice: its tooltip comes up, and a click selects it.
  await page.getByRole('button', { name: 'Inference', exact: true }).click();
  const box = await page.locator('#timeline canvas').first().boundingBox();
  let hit = false;
  for (let y = 20; y < box.height - 90 && !hit; y += 12)
    for (const x of [0.3, 0.5, 0.7]) {
      await page.mouse.move(box.x + box.width * x, box.y + y);
      await page.waitForTimeout(40);
      const tip = await page.locator('#timeline .chart > div').last().textContent();
      if (!/npu\./.test(tip)) continue;
      hit = true;
      await page.mouse.click(box.x + box.width * x, box.y + y);
      break;
    }
  assert.ok(hit, 'no tooltip of a slice came up');
  assert.deepEqual(errors, []);
  await page.context().close();
});

test('regions and memories can be chosen', async () => {
  const { page, errors } = await open(browser, file);
  await page.getByLabel('bytes of').selectOption('sram');
  const regions = page.getByLabel('region');
  for (const value of await regions
    .locator('option')
    .evaluateAll((all) => all.map((o) => o.value))) {
    await regions.selectOption(value);
    assert.ok((await inked(page, '#memory-over-time')) > 500);
  }
  assert.deepEqual(errors, []);
  await page.context().close();
});

test('what the page draws is what the report says', async () => {
  const { page } = await open(browser, file);
  const { report, machine, timeline, memory } = await page.evaluate(() =>
    JSON.parse(document.getElementById('data').textContent),
  );
  const used = new Set(timeline.tracks.map((t) => t.name));
  for (const unit of ['host', 'npu.load', 'npu.compute', 'npu.store', 'npu.queue'])
    assert.ok(used.has(unit), unit);
  assert.equal(
    timeline.tracks
      .filter((t) => /^npu\.(load|compute|store)$/.test(t.name))
      .reduce((n, t) => n + t.commands, 0),
    report.counters['npu.instructions'] - report.counters['npu.jobs'],
  );
  assert.ok(memory.spans.every(([, , , from, to]) => from <= to));
  assert.ok(machine.macs_per_cycle > 0);
  await page.context().close();
});
