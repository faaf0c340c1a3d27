const width = 110;
const height = 24;
const maxPoints = 60;

/** Small curve without axes, which shows whether a value rises, falls or is constant. */
export function Sparkline({ values }: { values: readonly number[] }) {
  if (values.length < 2) return null;
  const step = Math.max(1, Math.ceil(values.length / maxPoints));
  const kept = values.filter((_, index) => index % step === 0 || index === values.length - 1);
  const low = Math.min(...kept);
  const range = Math.max(...kept) - low || 1;
  const points = kept.map((value, index) => {
    const x = 2 + (index / (kept.length - 1)) * (width - 6);
    return [x, height - 3 - ((value - low) / range) * (height - 6)] as const;
  });
  const [endX = 0, endY = 0] = points.at(-1) ?? [];
  return (
    <svg
      class="sparkline"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      aria-hidden="true"
    >
      <polyline points={points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')} />
      <circle cx={endX} cy={endY} r="2" />
    </svg>
  );
}
