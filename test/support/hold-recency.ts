import { onTestFinished, vi } from 'vitest';
import { recency } from '../../shared/data/table/recent-values.ts';

/**
 * Keep what a process has read until a test ends, however slow its machine is. After `pass` everything that
 * is kept is too old.
 */
export function holdRecency(): { pass(): void } {
  const isOver = vi.spyOn(recency, 'isOver').mockReturnValue(false);
  onTestFinished(() => isOver.mockRestore());
  return { pass: () => void isOver.mockReturnValue(true) };
}
