import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ChartReports, type SeenChart } from '../charts/chart-report.ts';
import { lazy } from '../ui/states/lazy.tsx';

const AddChart = lazy(() => import('./add-chart.tsx').then((module) => module.AddChart));

/** Offers the charts below it to the reports of a project, for users who may write these. */
export function ChartToReport({
  project_id,
  mayChange,
  children,
}: {
  project_id: string;
  mayChange: boolean;
  children: ComponentChildren;
}) {
  const [chart, setChart] = useState<SeenChart>();
  return (
    <ChartReports.Provider value={mayChange ? setChart : undefined}>
      {children}
      {chart !== undefined && (
        <AddChart project_id={project_id} chart={chart} onClose={() => setChart(undefined)} />
      )}
    </ChartReports.Provider>
  );
}
