import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  assertFits,
  assertSmall,
  bring,
  column,
  drawAll,
  inked,
  launch,
  open,
  violations,
} from './browser.mjs';

const file = process.env.EXPLORE_HTML;
let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser.close();
});

const selected = async (page) =>
  Number((await page.locator('#selected').textContent()).match(/^(\d+) of/)?.[1] ?? 0);

test('opens small, quickly and silently', async () => {
  assertSmall(file);
  const { page, errors, requests, ready, busy } = await open(browser, file);
  const points = await page.evaluate(
    () => JSON.parse(document.getElementById('data').textContent).points.status.length,
  );
  console.log(
    `explore page: ${points} points, ready after ${ready.toFixed(0)} ms, ${busy.toFixed(0)} ms of processor time`,
  );
  await assertFits(page);
  for (const id of ['pareto-scatter', 'parallel-coordinates', 'sensitivity'])
    assert.ok((await inked(page, `#${id}`)) > 500, `${id} shows nothing`);
  assert.deepEqual(errors, []);
  assert.deepEqual(requests, []);
  await page.context().close();
});

test('has no findings of axe, light and dark', async () => {
  for (const scheme of ['light', 'dark']) {
    const { page } = await open(browser, file, scheme);
    await page.locator('footer summary').click();
    assert.deepEqual(await violations(page), [], scheme);
    if (process.env.SHOTS) {
      await page.locator('footer summary').click();
      await drawAll(page);
      await page.screenshot({
        path: `${process.env.SHOTS}/explore_${scheme}.png`,
        fullPage: scheme === 'light',
      });
    }
    await page.context().close();
  }
});

test('a rectangle in the scatter selects in all views', async () => {
  const { page, errors } = await open(browser, file);
  const lines = '#parallel-coordinates';
  await bring(page, lines);
  const before = await page
    .locator(`${lines} canvas`)
    .first()
    .evaluate((c) => c.toDataURL());
  await bring(page, '#pareto-scatter');
  const box = await page.locator('#pareto-scatter canvas').first().boundingBox();
  await page.mouse.move(box.x + 110, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 4 });
  await page.mouse.move(box.x + box.width - 60, box.y + box.height - 80, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => /^\d+ of/.test(document.getElementById('selected').textContent));
  const count = await selected(page);
  assert.ok(count > 0);
  assert.notEqual(
    await page
      .locator(`${lines} canvas`)
      .first()
      .evaluate((c) => c.toDataURL()),
    before,
  );
  await page.getByLabel('rows').selectOption('selected');
  assert.equal((await column(page, 'All points', 1)).length, Math.min(25, count));
  await page.getByRole('button', { name: 'Select nothing' }).click();
  assert.equal(await selected(page), 0);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test('a range on an axis selects in all views', async () => {
  const { page, errors } = await open(browser, file);
  await bring(page, '#parallel-coordinates');
  const box = await page.locator('#parallel-coordinates canvas').first().boundingBox();
  await page.mouse.move(box.x + 60, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, box.y + 200, { steps: 6 });
  await page.mouse.up();
  await page.waitForFunction(() => /^\d+ of/.test(document.getElementById('selected').textContent));
  assert.ok((await selected(page)) > 0);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test('front, levels, rows and sorting work by keyboard', async () => {
  const { page, errors } = await open(browser, file);
  const front = await page.evaluate(() =>
    JSON.parse(document.getElementById('data').textContent).points.front.reduce((a, b) => a + b, 0),
  );
  await page.getByRole('button', { name: 'Select the front' }).focus();
  await page.keyboard.press('Enter');
  assert.equal(await selected(page), front);

  const level = page
    .locator('table[aria-label="Means of the objectives at each level"] tbody tr')
    .first();
  const count = Number(await level.locator('td').nth(2).textContent());
  await level.locator('button').focus();
  await page.keyboard.press('Enter');
  assert.equal(await selected(page), count);

  await page.getByRole('button', { name: 'Select nothing' }).click();
  const box = page.locator('table[aria-label="All points"] input[type=checkbox]').nth(2);
  await box.focus();
  await page.keyboard.press('Space');
  assert.equal(await selected(page), 1);
  assert.ok(
    await page.evaluate(() => document.activeElement.type === 'checkbox'),
    'the focus got lost',
  );

  const objectives = await page.evaluate(() =>
    JSON.parse(document.getElementById('data').textContent).objectives.map((o) => o.name),
  );
  const head = page
    .locator('table[aria-label="All points"] thead th', { hasText: objectives[0] })
    .first();
  await head.locator('button').focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  assert.equal(await head.getAttribute('aria-sort'), 'ascending');
  const least = await page.evaluate(() => {
    const column = JSON.parse(document.getElementById('data').textContent).points.objectives[0];
    return column.indexOf(Math.min(...column.filter((v) => v !== null)));
  });
  const values = await page.evaluate(
    () => JSON.parse(document.getElementById('data').textContent).points.objectives[0],
  );
  const top = Number((await column(page, 'All points', 2))[0]);
  assert.equal(values[top], values[least]);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test('axes of the scatter can be chosen, and points clicked', async () => {
  const { page, errors } = await open(browser, file);
  const across = page.getByLabel('across');
  const options = await across.locator('option').evaluateAll((all) => all.map((o) => o.value));
  await across.selectOption(options.at(-1));
  assert.ok((await inked(page, '#pareto-scatter')) > 500);
  assert.deepEqual(errors, []);
  await page.context().close();
});
