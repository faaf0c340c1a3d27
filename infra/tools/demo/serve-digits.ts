import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import * as z from 'zod';
import { CommandError } from '../../command/command-error.ts';
import { type Screen, shortPath } from './screen.ts';
import type { TypedCommand } from './typed-command.ts';

/** Serve a compressed model, and let it read a drawn digit. Return whether it read the right one. */
export async function serveDigits({
  mps,
  screen,
  model,
  strategy_id,
  folder,
}: {
  mps: TypedCommand;
  screen: Screen;
  model: string;
  /** Compression whose result answers. */
  strategy_id: string;
  /** Folder for the drawing. */
  folder: string;
}): Promise<boolean> {
  screen.heading('Serving the compressed model');
  await mps.succeed('serve', model, '--version', strategy_id);
  const file = join(folder, 'drawn-digit.png');
  await writeFile(file, pictureOf(drawing));
  screen.heading('Reading a drawn digit');
  for (const row of drawing) screen.quote(row.replaceAll(/./g, '$&$&'));
  screen.fact('drawing', shortPath(file));
  const { outputs } = Answer.parse(await mps.json('infer', model, '--image', file));
  const label = outputs.find(({ datatype }) => datatype === 'INT64')?.data[0];
  if (label === undefined) throw new CommandError('The model answered without a digit.');
  screen.fact('it reads', String(label));
  return label === drawnDigit;
}

const Answer = z.object({
  outputs: z.array(z.object({ datatype: z.string(), data: z.array(z.unknown()) })),
});

const drawnDigit = 0;

/** A digit as large as those of the training. */
const drawing = [
  '  ░▓█▓  ',
  '  ▓█▓█▒ ',
  ' ░█░ ▒█ ',
  ' ▒█   █ ',
  ' ▒▓   █ ',
  ' ░█  ▒█ ',
  '  █▒▓█░ ',
  '  ░▓█▒  ',
] as const;

const shades = ' ░▒▓█';

/** Draw white ink on black, each mark 16 pixels wide, as a person would save it. */
function pictureOf(rows: readonly string[]): Buffer {
  const size = 16;
  const [height, width] = [rows.length * size, (rows[0]?.length ?? 0) * size];
  const png = new PNG({ width, height });
  for (let at = 0; at < width * height; at += 1) {
    const mark = rows[Math.floor(at / width / size)]?.[Math.floor((at % width) / size)] ?? ' ';
    const shade = Math.round((255 * shades.indexOf(mark)) / (shades.length - 1));
    png.data.set([shade, shade, shade, 255], 4 * at);
  }
  return PNG.sync.write(png);
}
