import { join } from 'node:path';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import { houseFigures, readProductFiles } from './figures.ts';
import { filesOfWay, ways } from './ways.ts';

const usage = `Usage: npm run proof -- house [--files]
  prints the figures of the product's files and folders, and the files of three ways
  --files  list the files of each way`;
const root = join(import.meta.dirname, '../../..');

/** `npm run proof -- house`: the figures of the product's files and folders, and the files of three ways. */
async function house(): Promise<number> {
  const { files: isListing = false } = readFlags(usage, { options: { files: { type: 'boolean' } } }).values;
  const figures = await houseFigures(root);
  const rows: [string, string | number][] = [
    ['files', figures.files],
    ['lines', figures.lines],
    ['median lines of a file', figures.medianLines],
    ['p90', figures.p90Lines],
    ['largest', `${figures.largest.lines} (${figures.largest.file})`],
    ['folders of more than 20 files', figures.crowdedFolders.join(', ') || 'none'],
    ['folders of fewer than 4', figures.smallFolders.join(', ') || 'none'],
    ['imports from one resource to another', figures.sidewaysImports.join(', ') || 'none'],
    ['words of CONTRIBUTING', figures.wordsOfContributing],
    ['words of all READMEs', figures.wordsOfReadmes],
  ];
  const texts = await readProductFiles(root);
  for (const way of ways) {
    const files = filesOfWay(way, texts);
    rows.push([`files of ${way.about}`, files.length]);
    if (isListing) for (const file of files) console.log(`${way.about}: ${file}`);
  }
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, value] of rows) console.log(`${name.padEnd(width)}  ${value}`);
  return 0;
}

await runMain(house);
