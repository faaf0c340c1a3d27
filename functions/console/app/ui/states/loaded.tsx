import type { ComponentChildren } from 'preact';
import { Problem } from './problem.tsx';
import { Skeleton } from './skeleton.tsx';

/** Show live data in one of four states. */
export function Loaded<T>({
  live,
  what,
  rows,
  children,
}: {
  live: { data: T | undefined; error: unknown; isLoading: boolean; refresh(): Promise<void> };
  what?: string;
  rows?: number;
  children: (data: T) => ComponentChildren;
}) {
  if (live.data !== undefined) return <>{children(live.data)}</>;
  if (live.error !== undefined)
    return <Problem error={live.error} onRetry={live.refresh} {...(what !== undefined && { what })} />;
  return <Skeleton {...(rows !== undefined && { rows })} />;
}
