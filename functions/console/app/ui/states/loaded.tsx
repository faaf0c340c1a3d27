import type { ComponentChildren } from 'preact';
import { lazy } from './lazy.tsx';
import { Problem } from './problem.tsx';
import { Skeleton } from './skeleton.tsx';

const Gone = lazy(() => import('./gone.tsx').then((module) => module.Gone));

/** Show live data in one of four states. */
export function Loaded<T>({
  live,
  what,
  rows,
  page,
  children,
}: {
  live: { data: T | undefined; error: unknown; isLoading: boolean; refresh(): Promise<void> };
  what?: string;
  rows?: number;
  /** The page that it is, which then has a head and a way back without the data, too. */
  page?: { what: string; trail: readonly { name: string; href: string }[] };
  children: (data: T) => ComponentChildren;
}) {
  if (live.data !== undefined) return <>{children(live.data)}</>;
  if (live.error !== undefined && page !== undefined)
    return <Gone error={live.error} onRetry={live.refresh} {...page} />;
  if (live.error !== undefined)
    return <Problem error={live.error} onRetry={live.refresh} {...(what !== undefined && { what })} />;
  return <Skeleton {...(rows !== undefined && { rows })} />;
}
