import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { reachFlags } from '../../../../../infra/local/start/reach.ts';

const Compose = z.object({
  services: z.object({
    service: z.object({
      build: z.object({ context: z.literal('.'), dockerfile: z.string() }),
      ports: z.array(z.string()),
      environment: z.record(z.string(), z.string().nullable()),
      volumes: z.array(z.string()),
    }),
  }),
  volumes: z.record(z.string(), z.null()),
});
const { services, volumes } = Compose.parse(parse(await readFile('compose.yaml', 'utf8')));
const { service } = services;
const dockerfile = await readFile(service.build.dockerfile, 'utf8');
const instructions = dockerfile.replaceAll('\\\n', ' ').split('\n');
const entryPoint = z
  .array(z.string())
  .parse(
    JSON.parse(
      instructions.find((line) => line.startsWith('ENTRYPOINT '))?.slice('ENTRYPOINT '.length) ?? '',
    ),
  );

describe('the container of the service', () => {
  test('publishes its two ports on this machine alone', () => {
    const flag = (name: string) => entryPoint[entryPoint.indexOf(name) + 1];
    const listening = [flag('--port'), flag('--s3-port')];

    expect(service.ports.map((port) => port.split(':').at(-1))).toEqual(listening);
    expect(service.ports.every((port) => port.startsWith('127.0.0.1:'))).toBe(true);
    expect(instructions).toContain(`EXPOSE ${listening.join(' ')}`);
  });

  test('gets variables that npm start knows', () => {
    const known = [...Object.values(reachFlags), 'ADMIN_PASSWORD', 'EMULATOR_SHA256'];

    expect(Object.keys(service.environment).filter((name) => !known.some((one) => one === name))).toEqual([]);
  });

  test('keeps its data in a volume', () => {
    expect(service.volumes).toEqual(['data:/data']);
    expect(volumes).toHaveProperty('data');
    expect(entryPoint.slice(-2)).toEqual(['--data', '/data']);
  });

  test('is made of files that are there, and that the context has', async () => {
    const ignored = (await readFile('.dockerignore', 'utf8')).split('\n');
    const copied = instructions.flatMap((line) => {
      const [name, ...words] = line.split(/\s+/);
      return name === 'COPY' && !words[0]?.startsWith('--') ? words.slice(0, -1) : [];
    });

    expect(copied.length).toBeGreaterThan(4);
    expect(copied.filter((file) => !existsSync(file) || !ignored.includes(`!${file}`))).toEqual([]);
  });

  test('runs Node with the flags of npm start, in the version of the image of the jobs', async () => {
    const scripts = z.object({ scripts: z.object({ start: z.string() }) });
    const { start } = scripts.parse(JSON.parse(await readFile('package.json', 'utf8'))).scripts;
    const jobs = await readFile('infra/aws/job-image/Dockerfile', 'utf8');

    const flagsOf = (words: readonly string[]) => words.filter((word) => /^--max|^--memory/.test(word));
    expect(flagsOf(entryPoint)).toEqual(flagsOf(start.split(' ')));
    for (const [variable] of start.matchAll(/MALLOC\w+=\d+/g)) expect(dockerfile).toContain(variable);
    expect(dockerfile.match(/^ARG BASE_IMAGE=.*$/m)?.[0]).toBe(jobs.match(/^ARG BASE_IMAGE=.*$/m)?.[0]);
  });
});
