import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { recordMany } from '../../infra/tools/demo/record-many.ts';
import { measureCompare, recordWide } from './bench/compare.ts';
import { measureCurves, recordCurves } from './bench/curves.ts';
import { type Figure, figureText, isMet } from './bench/figure.ts';
import { measureFirstPage } from './bench/first-page.ts';
import { measureHome } from './bench/home.ts';
import { measureLive, recordLive } from './bench/live.ts';
import { measureMedia, type Pictures, recordMedia } from './bench/media.ts';
import { measureMlflow } from './bench/mlflow.ts';
import { measureSweep } from './bench/sweep.ts';
import { measureTable } from './bench/table.ts';
import { findChromium } from './chromium.ts';
import { signIn, startConsole } from './console-service.ts';

// `npm run proof -- console`: the figures of the console, in Chromium.
const usage = `Usage: npm run proof -- console [--count <number>] [--data <folder>] [--mlflow <python>] [--only <part>]
  --count   experiments of the table (10,000); recording them takes most of the time
  --data    where they are kept for the next time, as \`npm run demo -- --many --data <folder>\` records them
  --mlflow  a Python that has MLflow 3: its page is measured beside the console, with as many runs
  --pictures <runs>x<steps> of 8 pictures each (50x100); recording them takes minutes
  --only    measures one part alone: page, home, table, compare, curves, media, live, sweep`;

const parts = ['page', 'home', 'table', 'compare', 'curves', 'media', 'live', 'sweep'] as const;
type Part = (typeof parts)[number];

interface Options {
  count: number;
  data: string | undefined;
  python: string | undefined;
  only: Part | undefined;
  pictures: Pictures;
}

async function measure({ count, data, python, only, pictures }: Options): Promise<Figure[]> {
  await using service = await startConsole(data);
  const { client, url } = service;
  const isAsked = (part: Part) => only === undefined || only === part;
  const figures: Figure[] = [];
  const page = await service.open();
  if (isAsked('page')) {
    const { files, bytes } = await measureFirstPage(
      page,
      `${url}/console`,
      (one) => !one.includes('/console'),
    );
    figures.push({ what: 'files of the first page', value: files, unit: '', bound: 3 });
    figures.push({ what: 'first page, compressed', value: bytes / 1000, unit: 'KB', bound: 80 });
  }
  await signIn(page, service.admin);
  if (isAsked('home') || isAsked('table')) {
    const { project_id, found, seconds } = await recordMany(client, count, {
      onProgress: (done) => console.log(`recorded ${done}`),
    });
    console.log(`recorded ${count - found} experiments in ${seconds.toFixed(0)} s, ${found} were there`);
    if (isAsked('home')) figures.push(...(await measureHome(page, count)));
    if (isAsked('table')) figures.push(...(await measureTable(page, project_id, count)));
  }
  if (isAsked('compare')) {
    const { project_id } = await recordMany(client, 1, { name: 'Wide experiments' });
    figures.push(...(await measureCompare(page, project_id, await recordWide(client, project_id))));
  }
  if (isAsked('media')) {
    const { project_id } = await recordMany(client, 1, { name: 'Experiments with pictures' });
    const ids = await recordMedia(client, project_id, pictures);
    figures.push(...(await measureMedia(page, project_id, ids)));
  }
  if (isAsked('curves')) {
    const { project_id } = await recordMany(client, 1, { name: 'Long experiments' });
    figures.push(...(await measureCurves(page, project_id, await recordCurves(client, project_id))));
  }
  if (isAsked('live')) {
    const { project_id } = await recordMany(client, 1, { name: 'Live experiments' });
    await recordLive(client, project_id);
    figures.push(...(await measureLive(page, project_id)));
  }
  if (isAsked('sweep')) figures.push(...(await measureSweep(page, url, client, 1_000)));
  if (python !== undefined) figures.push(...(await measureMlflow(service.browser, python, count, figures)));
  return figures;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      count: { type: 'string' },
      data: { type: 'string' },
      mlflow: { type: 'string' },
      only: { type: 'string' },
      pictures: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const count = Number(values.count ?? 10_000);
  const only = parts.find((part) => part === values.only);
  const isKnown = values.only === undefined || only !== undefined;
  const [, runs, steps] = /^(\d{1,2})x(\d{1,3})$/.exec(values.pictures ?? '50x100') ?? [];
  const pictures = { runs: Number(runs), steps: Number(steps) };
  const isCounted =
    Number.isInteger(count) &&
    count >= 100 &&
    pictures.runs >= 2 &&
    pictures.runs <= 50 &&
    pictures.steps >= 2;
  if (values.help === true || !isKnown || !isCounted) {
    console.log(usage);
    return values.help === true ? 0 : 2;
  }
  if (values.mlflow !== undefined && !existsSync(values.mlflow)) {
    console.log(`--mlflow must be the path of a Python, not "${values.mlflow}".\n${usage}`);
    return 2;
  }
  if (findChromium() === undefined) {
    console.log('NOTHING WAS MEASURED: there is no Chromium (`apt-get install chromium`, or set CHROMIUM).');
    return 0;
  }
  const figures = await measure({ count, data: values.data, python: values.mlflow, only, pictures });
  for (const figure of figures) console.log(figureText(figure));
  return figures.every(isMet) ? 0 : 1;
}

process.exit(await main());
