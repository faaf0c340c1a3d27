const bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** A curve as one line of text, at most `width` characters: the mean of each part, between the least and the greatest. */
export function sparkline(values: readonly number[], width: number): string {
  const parts = Math.min(width, values.length);
  const means = Array.from({ length: parts }, (_, part) => {
    const within = values.slice(
      Math.floor((part * values.length) / parts),
      Math.floor(((part + 1) * values.length) / parts),
    );
    return within.reduce((sum, value) => sum + value, 0) / within.length;
  });
  const least = Math.min(...means);
  const range = Math.max(...means) - least || 1;
  return means.map((mean) => bars[Math.round(((mean - least) / range) * (bars.length - 1))] ?? '').join('');
}
