import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/**
 * A Python package of one line, as a wheel: installing it needs no package index.
 *
 * @param more files of the package by their names
 */
export async function tinyWheel(
  name = 'tiny',
  more: Readonly<Record<string, string>> = {},
): Promise<{ path: string; bytes: Buffer }> {
  const info = `${name}-1.0.dist-info`;
  const files = {
    [`${name}/__init__.py`]: "version = '1.0'\n",
    ...Object.fromEntries(Object.entries(more).map(([file, text]) => [`${name}/${file}`, text])),
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`,
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  };
  const names = [...Object.keys(files), `${info}/RECORD`];
  const zip = new ZipFile();
  for (const [name, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), name);
  zip.addBuffer(Buffer.from(names.map((name) => `${name},,\n`).join('')), `${info}/RECORD`);
  zip.end();
  return { path: `wheels/${name}-1.0-py3-none-any.whl`, bytes: await buffer(zip.outputStream) };
}
