import { anchoredLine } from './anchored-line.ts';
import { boosterLine } from './booster-line.ts';
import { dictLine } from './dict-line.ts';
import { GenerationBlock } from './generation-block.ts';
import { markedLines } from './marked-lines.ts';
import { mayHoldMetric } from './may-hold-metric.ts';
import { MetricTable } from './metric-table.ts';
import { trainingMarks } from './metric-words.ts';
import { PlainPairs } from './plain-pairs.ts';
import type { FoundLine, PrintedMetrics } from './printed-metrics.ts';
import { ProgressBars } from './progress-bar.ts';
import { reportLine } from './report-line.ts';
import { SectionedTable } from './sectioned-table.ts';

/** Longest line that is read, in UTF-16 units. Lines of training are shorter, and dumps of data are longer. */
const maxUnits = 1_000;

/** Escape sequences of colours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals colour lines by them.
const colours = /\u001b\[[0-9;]*m/g;

/** How lines of boosters and of reports begin, because most lines are neither. */
const ofBooster = /^(?:[[\d]|Population's|Best fitness)/;
const ofReport = /^(?:[ │┃RMFmw]|\S{0,40}.{0,60}copypaste: )/;

/**
 * Recognizes metrics in the lines that frameworks print, one stream at a time. It prefers to miss a metric over
 * inventing one: a number counts only under a name of the field, in a form that trainings print. Every expression
 * takes time proportional to the line.
 */
export class LogRecognizer {
  readonly #table = new MetricTable();
  readonly #sections = new SectionedTable();
  readonly #block = new GenerationBlock();
  readonly #pairs = new PlainPairs();
  readonly #bars = new ProgressBars();
  #epoch: number | null = null;
  /** The two lines before. */
  #before = '';
  #earlier = '';
  /** The last line of a pass over the data, until it is known that no later one follows. */
  #partial: FoundLine | undefined;

  /**
   * Return the metrics that lines complete.
   * @param chunk the bytes in which the lines end. They are searched for what lines of trainings have, so most other
   * lines need no search
   */
  readAll(lines: readonly string[], chunk?: Buffer): PrintedMetrics[] {
    if (chunk === undefined) return lines.flatMap((line) => this.read(line));
    const found: PrintedMetrics[] = [];
    const marked = markedLines(chunk, lines, trainingMarks);
    let next = 0;
    let isOpen = this.#isOpen;
    let last = -1;
    for (let at = 0; at < lines.length; ) {
      if (!isOpen) {
        while ((marked[next] ?? lines.length) < at) next += 1;
        at = marked[next] ?? lines.length;
        if (at === lines.length) break;
      }
      this.#skip(lines, last + 1, at);
      for (const one of this.read(lines[at] ?? '', at === marked[next])) found.push(one);
      last = at;
      at += 1;
      isOpen = this.#isOpen;
    }
    this.#skip(lines, last + 1, lines.length);
    return found;
  }

  /** Note the last two of the lines that are not read. */
  #skip(lines: readonly string[], from: number, to: number): void {
    for (let at = Math.max(from, to - 2); at < to; at += 1) this.#note(lines[at] ?? '');
  }

  #note(line: string): void {
    this.#earlier = this.#before;
    this.#before = line;
  }

  get #isOpen(): boolean {
    return this.#table.isOpen || this.#sections.isOpen || this.#block.isOpen || this.#pairs.isWaiting;
  }

  /** Return the metrics that a line completes. `isMarked` says that it holds a mark. */
  read(line: string, isMarked = false): PrintedMetrics[] {
    const [before, earlier] = [this.#before, this.#earlier];
    this.#note(line);
    if (line.length > maxUnits || line === '') return [];
    const isOpen = this.#isOpen;
    if (!isOpen && !isMarked && !trainingMarks.some((mark) => line.includes(mark))) return [];
    if (!isOpen && !mayHoldMetric(line)) {
      this.#noteEpoch(line);
      return [];
    }
    const text = line.includes('\u001b') ? line.replaceAll(colours, '') : line;
    const foundLine =
      this.#table.read(text, before, earlier) ??
      this.#sections.read(text) ??
      this.#block.read(text, before, earlier) ??
      this.#line(text, before, earlier);
    if (foundLine?.epoch !== undefined) this.#epoch = foundLine.epoch;
    const waited = this.#pairs.read(foundLine === undefined ? text : '', before, this.#epoch);
    return [...waited, ...(foundLine === undefined ? [] : this.#ofPass(foundLine))];
  }

  /** Return the metrics of last lines that waited for their successors. */
  end(): PrintedMetrics[] {
    return [...this.#pairs.read('', '', this.#epoch), ...this.#ofPass({ step: null, values: [] })];
  }

  /** Return the metrics that count: those of a line within a pass do if the next one is of another. */
  #ofPass(foundLine: FoundLine): PrintedMetrics[] {
    const waited = this.#partial;
    const { isPartial = false, ...line } = foundLine;
    this.#partial = isPartial ? foundLine : undefined;
    const isReplaced = waited === undefined || isPartial || hasSameNames(waited, foundLine);
    const complete = isPartial ? [] : [line];
    return isReplaced ? complete : [{ step: waited.step, values: waited.values }, ...complete];
  }

  #line(text: string, before: string, earlier: string): FoundLine | undefined {
    const foundLine =
      dictLine(text) ??
      (ofBooster.test(text) ? boosterLine(text, before) : undefined) ??
      this.#bars.read(text, this.#epoch) ??
      this.#report(text, before, earlier) ??
      anchoredLine(text, this.#epoch);
    if (foundLine === undefined) this.#noteEpoch(text);
    return foundLine;
  }

  #report(text: string, before: string, earlier: string): FoundLine | undefined {
    const foundLine = ofReport.test(text) ? reportLine(text, before, earlier) : undefined;
    return foundLine === undefined ? undefined : { ...foundLine, step: this.#epoch };
  }

  /** Keras prints the epoch on a line of its own, as do many loops. */
  #noteEpoch(text: string): void {
    if (text.length > 80 || !text.includes('poch')) return;
    const [, epoch] = /^[\W_]{0,10}epoch[\s:#[]{0,4}(\d{1,7})\b/i.exec(text) ?? [];
    if (epoch === undefined) return;
    this.#epoch = Number(epoch);
    this.#bars.beginEpoch();
  }
}

const hasSameNames = (foundLine: FoundLine, other: FoundLine): boolean =>
  foundLine.step === other.step &&
  foundLine.values.every(([name]) => other.values.some(([otherName]) => otherName === name));
