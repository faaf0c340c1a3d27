import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const module = new URL('../../../shared/host/linux/inherited-descriptors.ts', import.meta.url);
/** Runs a program with descriptor 97 open, as a package manager may leave one; Node closes low ones by itself. */
const withOpen = [
  '-c',
  'exec 97</etc/passwd; exec "$@"',
  'sh',
  process.execPath,
  '--input-type=module',
  '-e',
];
const list = `(await import('node:child_process')).execFileSync('ls', ['-l', '/proc/self/fd'], { stdio: 'inherit' });`;

function openIn(program: string): string {
  return execFileSync('bash', [...withOpen, program], { encoding: 'utf8' });
}

test.runIf(process.platform === 'linux')(
  'no descriptor of whoever started a job reaches its programs',
  () => {
    expect(openIn(list)).toContain('/etc/passwd');
    const closing = `(await import(${JSON.stringify(module.href)})).closeInheritedDescriptors();`;
    const after = openIn(`${closing}${list}`);
    expect(after).not.toContain('/etc/passwd');
    expect(after.match(/ -> /g)?.length).toBeLessThanOrEqual(4);
  },
);
