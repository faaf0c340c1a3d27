import { lazy } from '../ui/states/lazy.tsx';

/** The curves of runs. Their script is loaded with the first chart. */
export const Curves = lazy(() => import('./curves.tsx').then((module) => module.Curves));
