import { RE2JS } from 're2js';
import type { PrintedMetrics } from './printed-metrics.ts';
import { printedNumber } from './printed-number.ts';

/** Rules of a project, and characters of one. */
const maxRules = 20;
const maxUnits = 500;

/** Longest line that is read, in UTF-16 units. */
const maxLine = 1_000;

/** Lines that are compared with rules that have not matched yet. */
const maxCompared = 20_000;

interface Rule {
  text: string;
  pattern: RE2JS;
  groups: readonly string[];
  /** Words of the rule outside of its groups, by which the nearest line is found. */
  words: readonly string[];
  hasMatched: boolean;
  nearest?: { line: string; shared: number };
}

/**
 * The rules of a project for metrics in its log: regular expressions whose named groups are metrics, such as
 * `loss=(?P<loss>\S+)`. Groups `step` and `epoch` are the step; `name` and `value` together are any metric. The engine
 * takes time proportional to the line, whatever the rule.
 */
export class MetricRules {
  readonly #rules: Rule[] = [];
  readonly #faults: string[] = [];
  #compared = 0;

  constructor(texts: readonly string[]) {
    if (texts.length > maxRules) this.#faults.push(`mps.yaml has more than ${maxRules} rules for metrics.`);
    for (const text of texts.slice(0, maxRules)) {
      const rule = ruleOf(text);
      if (typeof rule === 'string') this.#faults.push(rule);
      else this.#rules.push(rule);
    }
  }

  /** Return the metrics in lines. */
  readAll(lines: readonly string[]): PrintedMetrics[] {
    return lines.flatMap((line) => {
      if (line.length > maxLine || line === '') return [];
      return this.#rules.flatMap((rule) => this.#apply(rule, line) ?? []);
    });
  }

  end(): PrintedMetrics[] {
    return [];
  }

  /** Sentences about rules that are wrong or have matched no line, with the line that is nearest. */
  get warnings(): string[] {
    const unmatched = this.#rules.filter(({ hasMatched }) => !hasMatched);
    return [
      ...this.#faults,
      ...unmatched.map(({ text, nearest }) => {
        const near = nearest === undefined ? '' : ` The nearest line: ${JSON.stringify(nearest.line)}.`;
        return `The rule for metrics ${JSON.stringify(text)} matched no line of the log.${near}`;
      }),
    ];
  }

  #apply(rule: Rule, line: string): PrintedMetrics | undefined {
    const matcher = rule.pattern.matcher(line);
    if (!matcher.find()) {
      if (!rule.hasMatched) this.#compare(rule, line);
      return undefined;
    }
    const numberIn = (group: string): number | undefined =>
      rule.groups.includes(group) ? printedNumber(matcher.group(group) ?? '') : undefined;
    const values: [string, number][] = [];
    for (const group of rule.groups) {
      const value = numberIn(group);
      if (value !== undefined && !ofLine.has(group)) values.push([group, value]);
    }
    const [name, value] = [rule.groups.includes('name') ? matcher.group('name') : null, numberIn('value')];
    if (name !== null && name !== '' && value !== undefined) values.push([name, value]);
    if (values.length === 0) return undefined;
    rule.hasMatched = true;
    return { step: numberIn('step') ?? numberIn('epoch') ?? null, values };
  }

  #compare(rule: Rule, line: string): void {
    this.#compared += 1;
    if (this.#compared > maxCompared) return;
    const shared = rule.words.filter((word) => line.includes(word)).length;
    if (shared > (rule.nearest?.shared ?? 0)) rule.nearest = { line: line.slice(0, 200), shared };
  }
}

/** Groups that are no metrics by themselves. */
const ofLine = new Set(['step', 'epoch', 'name', 'value']);

/** Compile a rule, or say why it cannot be one. */
function ruleOf(text: string): Rule | string {
  const named = `The rule for metrics ${JSON.stringify(text.slice(0, 100))}`;
  if (text.length > maxUnits) return `${named} has more than ${maxUnits} characters.`;
  try {
    const pattern = RE2JS.compile(text);
    const groups = Object.keys(pattern.namedGroups());
    const isPair = groups.includes('name') && groups.includes('value');
    if (!isPair && groups.every((group) => ofLine.has(group)))
      return `${named} names no metric: write (?P<loss>…), or (?P<name>…) and (?P<value>…).`;
    const words = text.replaceAll(/\(\?P?<\w+>|\\[A-Za-z]/g, ' ').match(/[A-Za-z]{2,}/g) ?? [];
    return { text, pattern, groups, words: [...new Set(words)], hasMatched: false };
  } catch (error) {
    return `${named} is no regular expression: ${error instanceof Error ? error.message : String(error)}.`;
  }
}
