import { describe, expect, test } from 'vitest';
import type { MetricPoint } from '../../../../shared/data/metrics/metric-summary.ts';
import { MetricPanels } from '../../../../shared/drawing/metric-chart/metric-panels.ts';
import { renderMetricChart } from '../../../../shared/drawing/metric-chart/render-metric-chart.ts';

const start = Date.UTC(2026, 0, 1);
const point = (
  name: string,
  value: number,
  step: number | null,
  seconds = Math.min(step ?? 0, 1e6),
): MetricPoint => ({
  name,
  value,
  step,
  time: start + seconds * 1000,
});
const goalOf = (name: string) =>
  name === 'loss' ? 'minimize' : name === 'accuracy' ? 'maximize' : undefined;

function chart(points: readonly MetricPoint[]): string {
  const metrics = new MetricPanels();
  for (const { name, value, step, time } of points)
    metrics.take({
      name,
      steps: Float64Array.of(step ?? Number.NaN),
      times: Float64Array.of(time),
      values: Float64Array.of(value),
    });
  return renderMetricChart(metrics, { title: 'Metrics', goalOf, start });
}

const paths = (svg: string) => [...svg.matchAll(/<path d="([^"]*)"/g)].map(([, path = '']) => path);
const texts = (svg: string) => [...svg.matchAll(/<t(?:ext|span)[^>]*>([^<]*)<\/t/g)].map(([, text]) => text);
const steps = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('the chart', () => {
  test('has a panel a metric, its subsets together, with last and best values', () => {
    const svg = chart(
      steps(3).flatMap((step) => [
        point('loss', 1 / step, step),
        point('val_loss', 2 / step + (step === 3 ? 1 : 0), step),
        point('accuracy', step === 2 ? 0.9 : 0.8, step),
      ]),
    );
    expect(paths(svg)).toHaveLength(3);
    expect(svg).toContain(
      '<desc>loss: last 0.3333, best 0.3333 at step 3. val_loss: last 1.667, best 1 at step 2. accuracy: last 0.8, best 0.9 at step 2.</desc>',
    );
    expect(texts(svg).filter((text) => text === 'step')).toHaveLength(2);
    expect(texts(svg)).toEqual(
      expect.arrayContaining(['loss', 'val_loss', 'last 1.667, best 1 at step 2', 'accuracy', '0.8']),
    );
  });

  test('names nothing as best where nobody knows what is good', () => {
    expect(chart(steps(3).map((step) => point('learning_rate', step, step)))).toContain(
      '<desc>learning_rate: last 3.</desc>',
    );
  });

  test('counts time where a step is missing, from the start or from an earlier attempt', () => {
    const svg = chart([point('loss', 2, 1, 0), point('loss', 1, null, 60)]);
    expect(texts(svg)).toContain('seconds since the start');
    expect(texts(svg)).toContain('60');
    expect(chart([point('loss', 2, null, -600), point('loss', 1, null, 0)])).toContain(
      'best 1 at 10 minutes',
    );
  });

  test('is one image with a name for those who hear it', () => {
    const svg = chart([point('loss', 2, 1)]);
    expect(svg).toMatch(
      /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" [^>]*role="img" aria-label="Metrics"/,
    );
    expect(svg).toContain('<title>Metrics</title>');
  });

  test('says so when nothing was reported', () => {
    expect(texts(chart([]))).toContain('No metrics have been reported.');
  });

  test('lets no name become markup', () => {
    const svg = chart([
      point('</title><script>alert(1)</script>&"\'\u0000\u202e', 1, 1),
      point('val_]]><!--', 2, 2),
    ]);
    expect(svg).not.toMatch(/<script|<!--|\]\]>|\p{Cc}(?<!\n)|\p{Cf}/u);
    expect(svg.match(/<title>/g)).toHaveLength(svg.match(/<\/title>/g)!.length);
  });

  test('stays bounded, whatever is reported, and keeps a spike', () => {
    const many = steps(60_000).map((step) => point('loss', step === 31_111 ? 777 : Math.sin(step), step));
    const names = steps(3000).flatMap((index) => [point(`m${'x'.repeat(120)}${index}`, index, index)]);
    const svg = chart([...many, ...names]);
    expect(paths(svg)[0]!.split('L').length).toBeLessThanOrEqual(1000);
    expect(texts(svg)).toContain('The first 12 metrics are drawn; 1,000 or more others are not.');
    expect(svg.length).toBeLessThan(200_000);
    expect(chart(many.map((one) => ({ ...one, name: 'accuracy' })))).toContain('best 777 at step 31,111');
  });

  test('draws any finite numbers', () => {
    const values = [0, -0, 5e-324, -5e-324, 1e-9, 1.7e308, -1.7e308, 3];
    for (const one of values) {
      for (const other of values) {
        const svg = chart([
          point('loss', one, other, 1),
          point('loss', other, one, 1),
          point('test_loss', one, null),
        ]);
        expect(svg).not.toMatch(/NaN|Infinity|undefined/);
      }
    }
  });
});
