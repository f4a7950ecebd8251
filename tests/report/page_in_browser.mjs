// SPDX-License-Identifier: Apache-2.0
// page_in_browser.mjs CHROMIUM WEB_FOLDER SAMPLES_FOLDER: the report page as a reader meets it.
import assert from 'node:assert/strict';
import path from 'node:path';
import { openFile, withBrowser } from './browser.mjs';

const [chromium, webFolder, samples] = process.argv.slice(2);
assert(chromium.startsWith('/'), 'no Chromium found: apt-get install chromium');
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };

const data = (page) => page.evaluate(() => JSON.parse(document.getElementById('data').textContent));

function seriesKeys(shown) {
  return new Set(shown.series.flat().filter((s) => s.t.length > 0)
    .map((s) => JSON.stringify([s.scope, s.kind === 'event', s.name, s.labels])));
}

/** Puts the pointer on a plot's drawing area at a share of its width. */
async function pointAt(page, figure, share) {
  await figure.scrollIntoViewIfNeeded();
  const box = await figure.locator('.u-over').boundingBox();
  await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
  return figure.locator('.tip');
}

async function tipTime(page, figure, share) {
  const text = await (await pointAt(page, figure, share)).locator('span').first().innerText();
  return Number.parseFloat(text);
}

async function answerComesFirst(page, viewport) {
  const answers = page.locator('#answer .lead');
  assert.equal(await answers.count(), 2);
  assert.match(await answers.first().innerText(), /^Needs 2\.17 cores and 612 MB; reached 12\.4 of 10 fps/);
  const box = await answers.first().boundingBox();
  assert(box.y + box.height < viewport.height, 'the answer is below the fold');
  assert.match(await page.locator('.verdict').innerText(), /2 of 4 goals missed/);
}

async function disturbanceIsSaidAtTheTop(page) {
  assert.match(await page.locator('.verdict').innerText(), /1 of 2 runs disturbed by others/);
  const words = page.locator('#answer .disturbed');
  assert.equal(await words.count(), 1);
  assert.match(await words.innerText(), /^Disturbed: others used 1\.3 of 4 cores during the run: .*quiet machine\.$/);
  const table = await page.locator('#others table').innerText();
  assert.match(table, /1\.3 cores on average/);
  assert.match(table, /ffmpeg 0\.9 cores, <b>backup<\/b> 0\.32 cores/);
}

async function whatTheAppNeedsIsToldApart(page) {
  const table = await page.locator('#needs table').innerText();
  assert.match(table, /broker: CPU cores\s+0\.2 cores on average/);
  assert.match(table, /broker: memory\s+.*90 MB at most/);
}

async function everySeriesHasItsPlot(page) {
  await page.locator('.open-all').click();
  const wanted = seriesKeys(await data(page)).size;
  await page.waitForFunction((n) => document.querySelectorAll('figure.plot canvas').length === n, wanted);
  assert.equal(await page.locator('figure.plot:visible').count(), wanted);
  const labels = await page.locator('figure.plot .canvas').evaluateAll((all) => all.map((e) => e.getAttribute('aria-label')));
  assert(labels.every((l) => l.includes('over time')), 'a plot has no words for screen readers');
}

async function hoverShowsTheValue(page) {
  const figure = page.locator('figure[data-series=cpu_cores]').first();
  const tip = await pointAt(page, figure, 0.5);
  const [time, first] = await tip.locator('span:not(.swatch)').allInnerTexts();
  const series = (await data(page)).series[0].find((s) => s.name === 'cpu_cores');
  const at = series.t.reduce((best, t, i) => (Math.abs(t - Number.parseFloat(time)) < Math.abs(series.t[best] - Number.parseFloat(time)) ? i : best), 0);
  const near = series.v.slice(Math.max(0, at - 3), at + 4);
  assert.match(first, / cores$/);
  assert(Number.parseFloat(first) >= Math.min(...near) - 0.01 && Number.parseFloat(first) <= Math.max(...near) + 0.01, `${first} at ${time} is not among ${near}`);
  const others = page.locator('figure[data-series=memory_bytes] .reading').first();
  assert.match(await others.innerText(), /^\d+ MB$/, 'the other plots do not follow the pointer');
}

async function dragZoomsAllPlots(page) {
  const figures = await page.locator('figure.plot:visible').all();
  await figures[0].scrollIntoViewIfNeeded();
  const box = await figures[0].locator('.u-over').boundingBox();
  await page.mouse.move(box.x + box.width * 0.25, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 5 });
  await page.mouse.up();
  assert.match(await page.locator('.hint').innerText(), /^From 1[45]\.\d s to (29|30)\.\d s$/);
  for (const figure of figures) {
    const time = await tipTime(page, figure, 0.5);
    assert(time > 21 && time < 24, `a plot shows ${time} s in its middle and did not zoom`);
  }
  await figures[1].locator('.u-over').dblclick();
  assert.match(await page.locator('.hint').innerText(), /^Drag across/);
  const time = await tipTime(page, figures[2], 0.5);
  assert(time > 28 && time < 32, 'double click did not go back');
}

async function keysReadValues(page) {
  await page.locator('figure[data-series=fps] .canvas').focus();
  await page.keyboard.press('ArrowRight');
  assert.match(await page.locator('[aria-live]').innerText(), /s: .*\d/);
  await page.keyboard.press('+');
  assert.match(await page.locator('.hint').innerText(), /^From /);
  await page.keyboard.press('Escape');
  assert.match(await page.locator('.hint').innerText(), /^Drag/);
}

async function runsCanBeChosen(page) {
  const readings = page.locator('figure[data-series=fps] .reading');
  assert.equal(await readings.count(), 2);
  await page.locator('.chip').nth(1).click();
  assert.equal(await readings.count(), 1);
  assert.equal(await page.locator('.chip').nth(1).getAttribute('aria-pressed'), 'false');
  await page.locator('.chip').nth(1).click();
  assert.equal(await readings.count(), 2);
}

async function hostileNamesAreText(page) {
  assert.notEqual(await page.title(), 'owned');
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.locator('script').count(), 2);
  assert(await page.getByText("</script><script>document.title='owned'</script>", { exact: true }).first().isVisible());
  assert(await page.getByText('<img src=x onerror="document.title=\'owned\'">', { exact: true }).first().isVisible());
}

async function fitsItsWidth(page) {
  const [wide, view] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert(wide <= view, `the page is ${wide} wide on a screen of ${view}`);
}

async function step(name, check) {
  try {
    await check();
    console.log(`ok ${name}`);
  } catch (error) {
    console.error(`FAILED ${name}`);
    throw error;
  }
}

async function desktop(launch) {
  const context = await launch({ viewport: DESKTOP, colorScheme: 'light', offline: true });
  const { page, trouble } = await openFile(context, path.join(samples, 'two_targets.html'));
  const shot = (name, fullPage = false) => page.screenshot({ path: path.join(samples, `${name}.png`), fullPage });
  await step('the answer comes first', () => answerComesFirst(page, DESKTOP));
  await step('a disturbed run is marked at the top', () => disturbanceIsSaidAtTheTop(page));
  await step('what the app needs is told apart', () => whatTheAppNeedsIsToldApart(page));
  await step('the p95 stands beside mean and peak', () => sidesShowTheP95(page));
  await shot('light');
  await shot('light_whole', true);
  await step('every series has its plot', () => everySeriesHasItsPlot(page));
  await step('hover shows the value', () => hoverShowsTheValue(page));
  await shot('hover');
  await step('drag zooms all plots', () => dragZoomsAllPlots(page));
  await step('keys read values', () => keysReadValues(page));
  await step('runs can be chosen', () => runsCanBeChosen(page));
  await step('hostile names are text', () => hostileNamesAreText(page));
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.evaluate(() => scrollTo(0, 0));
  await shot('dark');
  await step('prints', async () => assert((await page.pdf({ path: path.join(samples, 'print.pdf') })).length > 20000));
  await step('no error and no request', () => assert.deepEqual(trouble, []));
  await context.close();
}

async function phone(launch) {
  const context = await launch({ viewport: PHONE, colorScheme: 'dark', offline: true, hasTouch: true });
  const { page, trouble } = await openFile(context, path.join(samples, 'two_targets.html'));
  await step('phone: the answer comes first', () => answerComesFirst(page, PHONE));
  await step('phone: fits its width', () => fitsItsWidth(page));
  await page.screenshot({ path: path.join(samples, 'phone.png') });
  await step('phone: no error and no request', () => assert.deepEqual(trouble, []));
  await context.close();
}

async function oneRun(launch) {
  const context = await launch({ viewport: DESKTOP, offline: true });
  const { page, trouble } = await openFile(context, path.join(samples, 'one_run.html'));
  await step('one run: answer, goals and gaps are told', async () => {
    assert.match(await page.locator('.lead').innerText(), /^objcounter needs 2\.17 cores and 612 MB/);
    assert.match(await page.locator('#goals').innerText(), /accuracy > 0\.5\s+✗ never reported/);
    assert.match(await page.locator('#gaps').innerText(), /no NVIDIA driver on this machine/);
    assert.equal(await page.locator('.chip').count(), 0);
    assert.match(await page.locator('#answer .goal-marks').innerText(), /fps >= 10: measured 12\.4\n.*\n.*accuracy > 0\.5: never reported/);
    assert.match(await page.locator('#footprint .explain').innerText(), /^Measured after the warm-up of 5 s\. p95 means/);
  });
  await page.screenshot({ path: path.join(samples, 'one_run.png'), fullPage: true });
  await step('one run: no error and no request', () => assert.deepEqual(trouble, []));
  await context.close();
}

async function failedRun(launch) {
  const context = await launch({ viewport: DESKTOP, colorScheme: 'dark', offline: true });
  const { page, trouble } = await openFile(context, path.join(samples, 'failed.html'));
  await step('failed run: its last words are told, and no warm-up', async () => {
    assert.equal(await page.locator('#answer .last-words pre').innerText(), 'Traceback:\n  no camera <found>');
    assert.match(await page.locator('#footprint .explain').innerText(), /^p95 means/);
    assert.equal(await page.getByText('Warm-up left out').count(), 0);
  });
  await page.screenshot({ path: path.join(samples, 'failed.png') });
  await step('failed run: no error and no request', () => assert.deepEqual(trouble, []));
  await context.close();
}

async function sidesShowTheP95(page) {
  const cell = page.locator('#footprint table.side').first().locator('tbody tr').first().locator('td').first();
  assert.match(await cell.innerText(), /^1\.83 cores\s*p95 2\.17\s*peak 2\.4\s*$/);
}

await withBrowser(chromium, webFolder, async (launch) => {
  await desktop(launch);
  await phone(launch);
  await oneRun(launch);
  await failedRun(launch);
});
