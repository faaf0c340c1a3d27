import type { FoundLine } from './printed-metrics.ts';
import { printedNumber } from './printed-number.ts';

const section = /^\| (\w{1,40})\/ {1,60}\| {1,60}\|$/;
const row = /^\| {4,8}(\w[\w@./-]{0,80}) {1,60}\| (\S{1,30}) {1,60}\|$/;

const maxRows = 100;

/**
 * Recognizes the tables of Stable-Baselines3: `| rollout/ | |` above `|    ep_rew_mean | 21.5 |`. They state their step
 * themselves, and a line of hyphens ends them.
 */
export class SectionedTable {
  #section: string | undefined;
  #values: [string, number][] = [];
  #step: number | null = null;

  get isOpen(): boolean {
    return this.#section !== undefined;
  }

  /** Return undefined for a line that is none of a table. Its last line has the values. */
  read(text: string): FoundLine | undefined {
    const [, opened] = text.startsWith('| ') ? (section.exec(text) ?? []) : [];
    if (opened !== undefined) this.#section = opened;
    if (this.#section === undefined) return undefined;
    const [, name, digits = ''] = row.exec(text) ?? [];
    const value = printedNumber(digits);
    if (name !== undefined && value !== undefined) this.#take(name, value);
    if (opened !== undefined || name !== undefined) return { step: null, values: [] };
    const found = { step: this.#step, values: this.#values };
    this.#section = undefined;
    this.#values = [];
    this.#step = null;
    return /^-{10,}$/.test(text) && found.values.length > 0 ? found : undefined;
  }

  #take(name: string, value: number): void {
    if (this.#section === 'time') {
      if (name === 'total_timesteps') this.#step = value;
    } else if (name !== 'n_updates' && this.#values.length < maxRows)
      this.#values.push([`${this.#section}/${name}`, value]);
  }
}
