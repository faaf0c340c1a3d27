import { copyFile, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { outputOf, runProgram, succeeds } from '../run-program.ts';
import { debianRoot } from './debian.ts';

/** The program of this very process is the project's pinned Node. */
const nodeProgram = process.execPath;

const dockerfile = `FROM scratch
ADD debian.tar /
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm/
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \\
  && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx
`;

/** Builds, once, what stands for the official image of Node: Debian, Node and npm at the same places. Returns its tag. */
export async function standInNodeBase(cache: string, version: string): Promise<string> {
  const tag = `model-project-service-test/node:${version}`;
  if (succeeds('docker', ['image', 'inspect', tag])) return tag;
  const root = await debianRoot(cache);
  const context = await mkdtemp(join(tmpdir(), 'mps-base-'));
  try {
    runProgram('tar', ['--directory', root, '--create', '--file', join(context, 'debian.tar'), '.']);
    await copyFile(nodeProgram, join(context, 'node'));
    await writeFile(join(context, 'package.json'), '{"private":true}');
    outputOf('npm', ['install', '--prefix', context, '--no-save', '--no-audit', '--no-fund', 'npm@11']);
    await mkdir(join(context, 'npm'));
    await cp(join(context, 'node_modules/npm'), join(context, 'npm'), { recursive: true });
    await rm(join(context, 'node_modules'), { recursive: true });
    await writeFile(join(context, 'Dockerfile'), dockerfile);
    runProgram('docker', ['build', '--quiet', '--tag', tag, context]);
  } finally {
    await rm(context, { recursive: true, force: true });
  }
  return tag;
}
