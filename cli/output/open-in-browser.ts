import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { browserOpener } from '../../shared/host/platform.ts';

/** Open a URL in the user's browser; `BROWSER` selects another. Return false if that fails. */
export async function openInBrowser(
  address: string,
  { BROWSER, DISPLAY, WAYLAND_DISPLAY }: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  if (browserOpener === undefined && !BROWSER && !DISPLAY && !WAYLAND_DISPLAY) return false;
  const [file, ...args] = BROWSER ? [BROWSER] : (browserOpener ?? ['xdg-open']);
  const child = spawn(file ?? '', [...args, address], { stdio: 'ignore', detached: true });
  child.unref();
  return once(child, 'spawn').then(
    () => true,
    () => false,
  );
}
