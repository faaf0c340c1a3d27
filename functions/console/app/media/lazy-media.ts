import { lazy } from '../ui/states/lazy.tsx';

/** The pictures and sounds of experiments, loaded at their first use. */
export const MediaView = lazy(() => import('./media-view.tsx').then((module) => module.MediaView));
