import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type Answer, deliberate, judges, type Reason } from './judge.ts';
import { maskTable } from './mask-table.ts';
import { type Answers, ourAnswers, routes } from './our-answers.ts';
import projects from './projects.json' with { type: 'json' };
import { randomMasks } from './random-masks.ts';

function theirAnswers(python: string, masks: readonly string[]): Answers {
  const { status, stdout, stderr } = spawnSync(
    python,
    [join(import.meta.dirname, 'flask-restx-answers.py')],
    {
      input: JSON.stringify({ data: projects, masks }),
      encoding: 'utf8',
      maxBuffer: 1 << 30,
    },
  );
  if (status !== 0) throw new Error(`Flask-RESTX did not run: ${stderr}`);
  return JSON.parse(stdout);
}

const short = (text: string, width: number) => (text.length > width ? `${text.slice(0, width - 1)}…` : text);
const cell = (text: string, width: number) => short(text, width).padEnd(width);
const show = ([status, body]: Answer) =>
  `${status} ${typeof body === 'string' ? body : JSON.stringify(body)}`;

const [python = 'python3', count = '5000', seed = '1'] = process.argv.slice(2);
const fixed = [
  ...maskTable.map(([mask]) => mask),
  ' ',
  '\u00a0',
  'attributes{rate{x}}',
  'attributes{note{x}}',
  'attributes{layers{}}',
];
const random = randomMasks(Number(count), Number(seed));
const masks = [...fixed, ...random];
const theirs = theirAnswers(python, masks);
const ours = await ourAnswers(projects, masks);

/** How often each verdict was reached, by the origin of the mask and the route. */
const tally: Record<string, Record<string, number>> = {};
const examples = new Map<Reason, string>();
const differences: string[] = [];

console.log(`${cell('mask', 40)} ${cell('Flask-RESTX, one project', 44)} ${cell('ours', 44)} verdict`);
for (const [at, mask] of masks.entries()) {
  for (const route of routes) {
    const [their, our] = [theirs[route][at]!, ours[route][at]!];
    const verdict = judges[route](mask, their, our);
    const row = `${at < fixed.length ? 'table' : 'random'}, ${route}`;
    const counts = tally[row] ?? {};
    tally[row] = { ...counts, [verdict]: (counts[verdict] ?? 0) + 1 };
    const example = `${route} ${JSON.stringify(mask)}\n    Flask-RESTX ${show(their)}\n    ours        ${show(our)}`;
    if (verdict === 'DIFFER') differences.push(example);
    else if (verdict !== 'agree' && !examples.has(verdict)) examples.set(verdict, example);
    if (route === 'one' && at < fixed.length) {
      console.log(
        `${cell(JSON.stringify(mask), 40)} ${cell(show(their), 44)} ${cell(show(our), 44)} ${verdict}`,
      );
    }
  }
}

console.log(
  `\nMasks of the table: ${fixed.length}, random masks (seed ${seed}): ${random.length}. Verdicts by route:`,
);
console.table(tally);
console.log('Deliberate differences:');
for (const [reason, example] of examples) console.log(`- ${reason}: ${deliberate[reason]}\n  ${example}`);
console.log(`\nDifferences that are not deliberate: ${differences.length}`);
for (const difference of differences.slice(0, 20)) console.log(`- ${difference}`);
process.exitCode = differences.length === 0 ? 0 : 1;
