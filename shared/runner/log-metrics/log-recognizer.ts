import { anchoredLine } from './anchored-line.ts';
import { boosterLine } from './booster-line.ts';
import { dictLine } from './dict-line.ts';
import { GenerationBlock } from './generation-block.ts';
import { MarkedLines } from './marked-lines.ts';
import { MetricTable } from './metric-table.ts';
import { mayBeOfTraining, mayHoldMetric, trainingMarks } from './metric-words.ts';
import { PlainPairs } from './plain-pairs.ts';
import type { PrintedMetrics } from './printed-metrics.ts';
import { progressBar } from './progress-bar.ts';

/** Longest line that is read, in UTF-16 units. Lines of training are shorter, and dumps of data are longer. */
const maxUnits = 1_000;

/** Escape sequences of colours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals colour lines by them.
const colours = /\u001b\[[0-9;]*m/g;

/**
 * Recognizes metrics in the lines that frameworks print, one stream at a time. It prefers to miss a metric over
 * inventing one: a number counts only under a name of the field, in a form that trainings print. Every expression
 * takes time proportional to the line.
 */
export class LogRecognizer {
  readonly #table = new MetricTable();
  readonly #block = new GenerationBlock();
  readonly #pairs = new PlainPairs();
  #epoch: number | null = null;
  #before = '';

  /**
   * Return the metrics that lines complete.
   * @param chunk the bytes in which the lines end. They are searched for what lines of trainings have, so most other
   * lines need no search
   */
  readAll(lines: readonly string[], chunk?: Buffer): PrintedMetrics[] {
    const found: PrintedMetrics[] = [];
    const marked = chunk === undefined ? undefined : new MarkedLines(chunk, trainingMarks);
    let isOpen = this.#isOpen;
    for (let at = 0; at < lines.length; at += 1) {
      const line = lines[at] ?? '';
      const isMarked = marked === undefined || marked.next(line);
      if (!isMarked && !isOpen) {
        this.#before = line;
        continue;
      }
      const more = this.read(line);
      if (more.length > 0) found.push(...more);
      isOpen = this.#isOpen;
    }
    return found;
  }

  get #isOpen(): boolean {
    return this.#table.isOpen || this.#block.isOpen || this.#pairs.isWaiting;
  }

  /** Return the metrics that a line completes. */
  read(line: string): PrintedMetrics[] {
    if (line.length > maxUnits || line === '') return [];
    const before = this.#before;
    this.#before = line;
    const isOpen = this.#isOpen;
    if (!isOpen && !mayBeOfTraining(line)) return [];
    if (!isOpen && !mayHoldMetric(line)) {
      this.#noteEpoch(line);
      return [];
    }
    const text = line.includes('\u001b') ? line.replaceAll(colours, '') : line;
    const found = this.#table.read(text) ?? this.#block.read(text) ?? this.#line(text);
    const waited = this.#pairs.read(found === undefined ? text : '', before, this.#epoch);
    return [...waited, ...(found === undefined ? [] : [found])];
  }

  /** Return the metrics of a last line that waited for its successor. */
  end(): PrintedMetrics[] {
    return this.#pairs.read('', '', this.#epoch);
  }

  #line(text: string): PrintedMetrics | undefined {
    const found =
      dictLine(text) ??
      boosterLine(text) ??
      progressBar(text, this.#epoch) ??
      anchoredLine(text, this.#epoch);
    if (found === undefined) this.#noteEpoch(text);
    else if (found.epoch !== undefined) this.#epoch = found.epoch;
    return found;
  }

  /** Keras prints the epoch on a line of its own, as do many loops. */
  #noteEpoch(text: string): void {
    if (text.length > 80 || !/[Ee]poch/.test(text)) return;
    const [, epoch] = /^[\W_]{0,10}epoch[\s:#[]{0,4}(\d{1,7})\b/i.exec(text) ?? [];
    if (epoch !== undefined) this.#epoch = Number(epoch);
  }
}
