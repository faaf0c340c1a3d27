import type { Page } from 'playwright-core';

/**
 * Bytes that came over the wire for a page opened by somebody who has never been there: scripts, styles and the page
 * itself, compressed as they were sent, without the answers of the API.
 */
export async function firstPageBytes(
  page: Page,
  url: string,
  isAnswer: (url: string) => boolean,
): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
  const counted = new Map<string, number>();
  const answers = new Set<string>();
  devtools.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (isAnswer(request.url) || request.url.startsWith('data:')) answers.add(requestId);
  });
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!answers.has(requestId)) counted.set(requestId, encodedDataLength);
  });
  await page.goto(url, { waitUntil: 'networkidle' });
  await devtools.detach();
  return [...counted.values()].reduce((sum, bytes) => sum + bytes, 0);
}
