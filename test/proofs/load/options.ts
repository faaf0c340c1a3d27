import { CommandError } from '../../../infra/command/command-error.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';

export interface LoadOptions {
  /** Of the normal load. */
  seconds: number;
  /** Requests of the normal load. */
  perSecond: number;
}

const usage = `Usage: npm run proof -- load [--seconds <seconds>] [--rate <requests a second>]
  --seconds  how long the normal load lasts (120); the other phases take a quarter of it, at least 10 s
  --rate     requests a second of the normal load (150)`;

const whole = (text: string): number => (/^[1-9]\d{0,4}$/.test(text) ? Number(text) : Number.NaN);

/** @throws CommandError for what it does not know */
export function readOptions(args: readonly string[]): LoadOptions {
  const options = {
    seconds: { type: 'string', default: '120' },
    rate: { type: 'string', default: '150' },
  } as const;
  const { values } = readFlags(usage, { args: [...args], options });
  const read = { seconds: whole(values.seconds), perSecond: whole(values.rate) };
  if (Object.values(read).some(Number.isNaN)) {
    throw new CommandError(`Both are whole numbers from 1 to 99999.\n${usage}`);
  }
  return read;
}
