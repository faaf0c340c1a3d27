import type { Page } from 'playwright-core';

/** After so long without another part, the page has all of them. */
const quietMilliseconds = 2_000;

/** What came over the wire for a page. */
interface FirstPage {
  files: number;
  bytes: number;
}

/**
 * Files and bytes that came over the wire for a page opened by somebody who has never been there: scripts, styles and the page
 * itself, compressed as they were sent, without the answers of the API.
 */
export async function measureFirstPage(
  page: Page,
  url: string,
  isAnswer: (url: string) => boolean,
): Promise<FirstPage> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
  const counted = new Map<string, number>();
  /** Requests of this page for files: what the browser loads by itself ends here, too. */
  const asked = new Set<string>();
  let last = performance.now();
  devtools.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (!isAnswer(request.url) && !request.url.startsWith('data:')) asked.add(requestId);
  });
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!asked.has(requestId)) return;
    counted.set(requestId, encodedDataLength);
    last = performance.now();
  });
  await page.goto(url, { waitUntil: 'load' });
  // Not until the network is idle: a page may ask its API again and again.
  while (performance.now() - last < quietMilliseconds) await page.waitForTimeout(100);
  await devtools.detach();
  return { files: counted.size, bytes: [...counted.values()].reduce((sum, bytes) => sum + bytes, 0) };
}
