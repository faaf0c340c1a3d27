import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core';
import type { endpoint as createToken } from '../../functions/auth/create-token.endpoint.ts';
import { Client } from '../../shared/client/client.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { findChromium } from './chromium.ts';

export const admin = { username: 'admin', password: 'a long sentence for the browser' };

/** A window in which somebody looks at the console. */
export interface Look {
  width: number;
  scheme: 'light' | 'dark';
}

/** A service of its own and a browser, for one file of tests. */
export interface ConsoleService {
  url: string;
  browser: Browser;
  client: Client;
  admin: { username: string; password: string };
  /** Pages that were opened have reported these errors of scripts and refusals of the policy. */
  faults: string[];
  /** Open the console in a window of its own. */
  open(look?: Partial<Look>): Promise<Page>;
  /** The same, signed in. */
  enter(look?: Partial<Look>): Promise<Page>;
  /** Stop the service, as when a machine restarts; `start` begins it again at the same address. */
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What every page is watched for. Failed requests are the business of those tests that make them fail. */
function watch(page: Page, faults: string[]): void {
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && !text.includes('Failed to load resource'))
      faults.push(`${text} (${message.location().url}:${message.location().lineNumber})`);
  });
}

/** What pages have asked for and not got yet. */
const fetching = new WeakMap<Page, Set<Promise<void>>>();

/** Know what a page asks for: no page or download, and not what is live, for which the service waits until there is news. */
function watchRequests(page: Page): void {
  const open = new Set<Promise<void>>();
  const ends = new Map<Request, () => void>();
  fetching.set(page, open);
  page.on('request', (request) => {
    if (request.isNavigationRequest() || /\/live\b/.test(request.url())) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    open.add(promise);
    ends.set(request, () => {
      open.delete(promise);
      ends.delete(request);
      resolve();
    });
  });
  const end = (request: Request): void => ends.get(request)?.();
  page.on('requestfinished', end);
  page.on('requestfailed', end);
}

/** Let every page of a browser have one part in so many of the processor, to find what a slow machine finds. */
function slowDown(browser: Browser): void {
  const rate = Number(process.env['SLOWER'] ?? 1);
  if (rate === 1) return;
  browser.on('context', (context) =>
    context.on('page', async (page) => {
      const session = await context.newCDPSession(page);
      await session.send('Emulation.setCPUThrottlingRate', { rate });
    }),
  );
}

export async function signIn(page: Page, { username, password } = admin): Promise<void> {
  await page.getByLabel('User', { exact: true }).fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.shell').waitFor();
}

/** A service on a folder of data that is kept, or on one that ends with it; `variables` are of its environment. */
export async function startConsole(
  data?: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<ConsoleService> {
  const folder = data ?? (await mkdtemp(join(tmpdir(), 'console-')));
  const kept = await readFile(join(folder, 'admin-password'), 'utf8').catch(() => undefined);
  const own = { ...admin, ...(kept !== undefined && { password: kept.trim() }) };
  const environment = {
    LOG_LEVEL: 'error',
    ...variables,
    ...(kept === undefined && { ADMIN_PASSWORD: own.password }),
  };
  const launch = async (port: string): Promise<LocalService> => {
    const started = await startLocalService(['--data', folder, '--port', port], environment);
    if (!('url' in started)) throw new Error(started.output);
    return started;
  };
  let service = await launch('0');
  const { url } = service;
  const { access_token } = await new Client({ url }).call<typeof createToken>('POST /auth/token', {
    body: { grant_type: 'password', ...own },
  });
  const browser = await chromium.launch({
    executablePath: findChromium() ?? 'chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  slowDown(browser);
  const faults: string[] = [];
  const contexts: BrowserContext[] = [];
  const open = async ({ width = 1280, scheme = 'light' }: Partial<Look> = {}): Promise<Page> => {
    const context = await browser.newContext({
      viewport: { width, height: width < 500 ? 844 : 800 },
      colorScheme: scheme,
      hasTouch: width < 500,
      reducedMotion: 'reduce',
      acceptDownloads: true,
    });
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url });
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(240_000);
    watch(page, faults);
    watchRequests(page);
    await page.goto(`${url}/console`);
    return page;
  };
  const close = async (): Promise<void> => {
    await Promise.all(contexts.map((context) => context.close()));
    await browser.close();
    await service.end('SIGTERM');
    if (data === undefined) await rm(folder, { recursive: true, force: true });
  };
  return {
    url,
    browser,
    client: new Client({ url, token: access_token }),
    admin: own,
    faults,
    open,
    async enter(look) {
      const page = await open(look);
      await signIn(page, own);
      return page;
    },
    async stop() {
      await service.end('SIGTERM');
    },
    async start() {
      service = await launch(new URL(url).port);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Go to a place of the console and wait until it is loaded. */
export async function visit(page: Page, place: string): Promise<void> {
  await page.evaluate(
    (hash) =>
      new Promise<void>((resolve) => {
        const before = location.href;
        // The console listens since before, so it has the new place when this is called.
        addEventListener('hashchange', () => resolve(), { once: true });
        location.hash = hash;
        if (location.href === before) resolve();
      }),
    `#/${place}`,
  );
  await settle(page);
  // What the test before this one has left in a form. The question is loaded when it is put.
  const discard = page.getByRole('button', { name: 'Discard', exact: true });
  if (!(await discard.isVisible())) return;
  await discard.click();
  await settle(page);
}

/** Frames without a change after which a page stands still: what is drawn in one may be measured and drawn anew in two more. */
const stillFrames = 3;

/** Wait until nothing is loading, and the page stands still. */
export async function settle(page: Page): Promise<void> {
  await standStill(page);
  for (let open = fetching.get(page); open !== undefined && open.size > 0; ) {
    await Promise.all(open);
    await standStill(page);
  }
}

async function standStill(page: Page): Promise<void> {
  const seen = await page.evaluateHandle(() => {
    const state = { still: 0, end: () => {} };
    const observer = new MutationObserver(() => {
      state.still = 0;
    });
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    state.end = () => observer.disconnect();
    return state;
  });
  try {
    await page.waitForFunction(
      ({ state, frames }) => {
        const isLoading = document.querySelector('main :is(.skeleton, [aria-busy="true"])') !== null;
        state.still = isLoading ? 0 : state.still + 1;
        return state.still > frames;
      },
      { state: seen, frames: stillFrames },
    );
  } finally {
    await seen.evaluate((state) => state.end());
    await seen.dispose();
  }
}
