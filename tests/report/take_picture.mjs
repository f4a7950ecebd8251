// SPDX-License-Identifier: Apache-2.0
// take_picture.mjs CHROMIUM WEB_FOLDER PAGE.html OUT.png: the first screen of a report, for the docs.
import { openFile, withBrowser } from './browser.mjs';

const [chromium, webFolder, file, out] = process.argv.slice(2);
await withBrowser(chromium, webFolder, async (launch) => {
  const context = await launch({ viewport: { width: 1280, height: 1400 }, colorScheme: 'light', offline: true });
  const { page } = await openFile(context, file);
  await page.screenshot({ path: out });
  await context.close();
});
