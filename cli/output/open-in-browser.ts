import { spawn } from 'node:child_process';
import { once } from 'node:events';

type Variables = Readonly<Record<string, string | undefined>>;

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens an address in the person's browser; false where that cannot be done. */
export async function openInBrowser(
  address: string,
  { BROWSER, DISPLAY, WAYLAND_DISPLAY }: Variables,
): Promise<boolean> {
  const own = openers[process.platform];
  if (own === undefined && !BROWSER && !DISPLAY && !WAYLAND_DISPLAY) return false;
  const [file, ...args] = BROWSER ? [BROWSER] : (own ?? ['xdg-open']);
  const child = spawn(file ?? '', [...args, address], { stdio: 'ignore', detached: true });
  child.unref();
  return once(child, 'spawn').then(
    () => true,
    () => false,
  );
}
