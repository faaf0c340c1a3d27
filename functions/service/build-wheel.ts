import { createHash } from 'node:crypto';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { parse } from 'smol-toml';
import { ZipFile } from 'yazl';
import * as z from 'zod';
import { dataClasses } from './data-classes.ts';
import { wheelVersion } from './wheel-name.ts';

/**
 * Build the Python package of this service as a wheel (PEP 427) from `python/`. The build is reproducible: equal
 * sources make equal bytes.
 *
 * @param root folder of the project
 * @param commandDigest SHA-256 in hexadecimal of the `mps.tgz` that belongs to this version
 */
export async function buildWheel(root: string, commandDigest: string): Promise<Uint8Array> {
  const files = await wheelFiles(root, commandDigest);
  const zip = new ZipFile();
  // A date of the local clock: the format has no time zone, so the bytes are the same everywhere.
  const options = { mtime: new Date(2000, 0, 1), mode: 0o100644, forceDosTimestamp: true };
  for (const [path, text] of files) zip.addBuffer(Buffer.from(text), path, options);
  zip.end();
  return buffer(zip.outputStream);
}

/** Return the files of the wheel in their order, by path. */
export async function wheelFiles(
  root: string,
  commandDigest: string,
): Promise<[path: string, text: string][]> {
  const sources = join(root, 'python');
  const names = await Array.fromAsync(glob('mps/**/{*.py,py.typed}', { cwd: sources }));
  const facts = { version: wheelVersion, command_digest: commandDigest };
  const read = async (path: string): Promise<[string, string]> => {
    const text = await readFile(join(sources, path), 'utf8');
    return [path, path === 'mps/version.py' ? withFacts(text, facts) : text];
  };
  const document = JSON.parse(await readFile(join(root, 'functions/service/openapi.json'), 'utf8'));
  const { project } = Manifest.parse(parse(await readFile(join(sources, 'pyproject.toml'), 'utf8')));
  const info = `${project.name.replaceAll('-', '_')}-${wheelVersion}.dist-info`;
  const files: [string, string][] = [
    ...(await Promise.all(names.toSorted().map(read))),
    ['mps/models.py', dataClasses(document)],
    [`${info}/METADATA`, metadata(project)],
    [`${info}/WHEEL`, wheelFacts],
    [`${info}/entry_points.txt`, entryPoints(project.scripts)],
  ];
  const record = [...files.map(recordLine), `${info}/RECORD,,`];
  return [...files, [`${info}/RECORD`, `${record.join('\n')}\n`]];
}

/** The part of `python/pyproject.toml` that becomes metadata of the wheel. */
const Manifest = z.object({
  project: z.object({
    name: z.string(),
    description: z.string(),
    license: z.string(),
    'requires-python': z.string(),
    'optional-dependencies': z.record(z.string(), z.array(z.string())),
    scripts: z.record(z.string(), z.string()),
  }),
});
type Project = z.infer<typeof Manifest>['project'];

/** Replace the values that the source tree has for the facts of a build. */
function withFacts(text: string, facts: Readonly<Record<string, string>>): string {
  let written = text;
  for (const [name, value] of Object.entries(facts)) {
    const line = new RegExp(`^${name} = ".*"$`, 'm');
    if (!line.test(written)) throw new Error(`python/mps/version.py has no line ${name} = "…"`);
    written = written.replace(line, `${name} = "${value}"`);
  }
  return written;
}

const metadata = (project: Project): string => {
  const extras = Object.entries(project['optional-dependencies']).flatMap(([extra, requirements]) => [
    `Provides-Extra: ${extra}`,
    ...requirements.map((requirement) => `Requires-Dist: ${requirement}; extra == "${extra}"`),
  ]);
  return lines([
    'Metadata-Version: 2.1',
    `Name: ${project.name}`,
    `Version: ${wheelVersion}`,
    `Summary: ${project.description}`,
    `License: ${project.license}`,
    `Requires-Python: ${project['requires-python']}`,
    ...extras,
  ]);
};

const lines = (all: readonly string[]): string => `${all.join('\n')}\n`;

const wheelFacts = lines([
  'Wheel-Version: 1.0',
  'Generator: model-project-service',
  'Root-Is-Purelib: true',
  'Tag: py3-none-any',
]);

const entryPoints = (scripts: Project['scripts']): string =>
  lines(['[console_scripts]', ...Object.entries(scripts).map(([name, target]) => `${name} = ${target}`)]);

const recordLine = ([path, text]: readonly [string, string]): string =>
  `${path},sha256=${createHash('sha256').update(text).digest('base64url')},${Buffer.byteLength(text)}`;
