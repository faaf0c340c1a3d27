import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

const isProgram = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** A Chromium of this machine; undefined where there is none. */
export function findChromium(): string | undefined {
  const { CHROMIUM: given, PATH = '' } = process.env;
  if (given !== undefined) return given;
  return PATH.split(':')
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(isProgram);
}
