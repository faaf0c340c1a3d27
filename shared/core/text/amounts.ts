/** Format a duration, such as `4.2 s` or `1 h 03 min`. */
export function secondsText(seconds: number): string {
  if (seconds < 100) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  const two = (count: number) => String(count).padStart(2, '0');
  if (minutes < 60) return `${minutes} min ${two(Math.floor(seconds % 60))} s`;
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
}

/** Format US dollars. */
export const dollarsText = (dollars: number): string => `US$ ${dollars.toFixed(dollars < 1 ? 4 : 2)}`;
