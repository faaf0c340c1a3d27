import { lazy } from '../ui/states/lazy.tsx';

/** The pictures, sounds and histograms of an event file, loaded at their first use. */
export const EventsView = lazy(() => import('./events-view.tsx').then((module) => module.EventsView));
