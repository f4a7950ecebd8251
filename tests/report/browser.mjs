// SPDX-License-Identifier: Apache-2.0
// Opens pages from disk in Debian's Chromium and notes everything they should not do.
import { createRequire } from 'node:module';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--host-resolver-rules=MAP * ~NOTFOUND',
];

/** `webFolder`: where npm put playwright-core. */
export async function withBrowser(chromium, webFolder, use) {
  const playwright = createRequire(path.resolve(webFolder, 'package.json'))('playwright-core');
  const profile = mkdtempSync(path.join(tmpdir(), 'assay-browser-'));
  const contexts = [];
  const launch = async (options) => {
    const context = await playwright.chromium.launchPersistentContext(
      mkdtempSync(path.join(profile, 'p-')), { executablePath: chromium, headless: true, args: FLAGS, ...options });
    contexts.push(context);
    return context;
  };
  try {
    await use(launch);
  } finally {
    await Promise.all(contexts.map((c) => c.close()));
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** A page from a file; `trouble` collects errors and every request that is not for the file itself. */
export async function openFile(context, file) {
  const page = await context.newPage();
  const trouble = [];
  const url = pathToFileURL(file).href;
  await context.route('**/*', (route) => {
    if (route.request().url() === url) return route.continue();
    trouble.push(`asked for ${route.request().url()}`);
    return route.abort();
  });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) trouble.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => trouble.push(`error: ${error.message}`));
  await page.goto(url);
  return { page, trouble };
}
