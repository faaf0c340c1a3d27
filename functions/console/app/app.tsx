import { useLayoutEffect, useRef } from 'preact/hooks';
import { ownRights } from './api/rights.ts';
import { isExpired, person } from './api/session.ts';
import { HomePage } from './pages/home.tsx';
import { ProjectPage } from './pages/project.tsx';
import { SignInDialog, SignInPage } from './pages/sign-in.tsx';
import { Shell } from './shell/shell.tsx';
import { LinkButton } from './ui/controls/button.tsx';
import { waiting } from './ui/edits.ts';
import { leavePage, PageHead } from './ui/page-head.tsx';
import { href, keep, keptOf, place } from './ui/router.ts';
import { Empty } from './ui/states/empty.tsx';
import { lazy } from './ui/states/lazy.tsx';

const AccountPage = lazy(() => import('./pages/account.tsx').then((module) => module.AccountPage));
const SharedPage = lazy(() => import('./pages/shared.tsx').then((module) => module.SharedPage));
const AuditPage = lazy(() => import('./pages/audit.tsx').then((module) => module.AuditPage));
const GuestPage = lazy(() => import('./pages/guest.tsx').then((module) => module.GuestPage));
const ProjectsPage = lazy(() => import('./pages/projects.tsx').then((module) => module.ProjectsPage));
const UsersPage = lazy(() => import('./pages/users.tsx').then((module) => module.UsersPage));
const ModelsPage = lazy(() => import('./pages/models.tsx').then((module) => module.ModelsPage));
const ExperimentPage = lazy(() => import('./pages/experiment.tsx').then((module) => module.ExperimentPage));
const ComparePage = lazy(() => import('./pages/compare.tsx').then((module) => module.ComparePage));
const StartPage = lazy(() => import('./pages/start.tsx').then((module) => module.StartPage));
const SweepPage = lazy(() => import('./sweeps/sweep-page.tsx').then((module) => module.SweepPage));
const SweepStartPage = lazy(() =>
  import('./sweeps/start/sweep-start-page.tsx').then((module) => module.SweepStartPage),
);
const ReportPage = lazy(() => import('./reports/report-page.tsx').then((module) => module.ReportPage));
const ServingPage = lazy(() => import('./serving/serving-page.tsx').then((module) => module.ServingPage));
const NamePage = lazy(() => import('./registry/name-page.tsx').then((module) => module.NamePage));
const ModelPage = lazy(() => import('./pages/model.tsx').then((module) => module.ModelPage));
const EditsQuestion = lazy(() =>
  import('./ui/controls/edits-question.tsx').then((module) => module.EditsQuestion),
);

const NotThere = () => (
  <>
    <PageHead title="Page not found" />
    <Empty title="The address may be wrong, or belong to another version of the console" icon="search">
      <LinkButton href={href([])} icon="home">
        Home
      </LinkButton>
    </Empty>
  </>
);

function Page() {
  const [room, id, part, sub] = place.value.parts;
  if (room === 'account') return <AccountPage />;
  if (!ownRights().mayRead) return <GuestPage />;
  // Somebody who is signed in comes back from a sign-in at the issuer that failed.
  if (room === undefined || room === 'sign-in') return <HomePage />;
  if (room === 'users') return <UsersPage />;
  if (room === 'audit') return <AuditPage />;
  if (room === 'models' && id !== undefined && part === 'serving')
    return <ServingPage key={id} model_name={id} />;
  if (room === 'models') return id === undefined ? <ModelsPage /> : <ModelPage key={id} model_name={id} />;
  if (room === 'registry' && id !== undefined) return <NamePage key={id} name={id} />;
  if (room !== 'projects') return <NotThere />;
  if (id === undefined) return <ProjectsPage />;
  if (part === 'compare') return <ComparePage key={id} project_id={id} />;
  if (part === 'audit') return <AuditPage key={id} project_id={id} />;
  if (part === 'start') return <StartPage key={id} project_id={id} />;
  if (part === 'experiments' && sub !== undefined)
    return <ExperimentPage key={sub} project_id={id} experiment_id={sub} />;
  if (part === 'sweeps' && sub === 'new')
    return <SweepStartPage key={`${id}/${place.value.query.get('around')}`} project_id={id} />;
  if (part === 'sweeps' && sub !== undefined) return <SweepPage key={sub} project_id={id} sweep_id={sub} />;
  if (part === 'reports' && sub !== undefined)
    return <ReportPage key={sub} project_id={id} report_id={sub} />;
  return <ProjectPage key={id} project_id={id} tab={part ?? 'experiments'} />;
}

history.scrollRestoration = 'manual';
window.addEventListener('scroll', () => keep('page-top', window.scrollY), { passive: true });

/** Scroll to the previous position. Retry, because the page may still be loading and too short. */
function scrollToPlace(top: number, tries = 20): void {
  window.scrollTo(0, top);
  if (window.scrollY < top - 1 && tries > 0) setTimeout(() => scrollToPlace(top, tries - 1), 100);
}

/** The console: the current page, with a sign-in dialog above it while the session has expired. */
export function App() {
  const at = place.value.parts.join('/');
  const before = useRef(at);
  useLayoutEffect(() => {
    if (before.current === at) return;
    before.current = at;
    leavePage();
    document.title = 'Model Project Service';
    scrollToPlace(keptOf<number>('page-top') ?? 0);
  }, [at]);
  const [room, secret] = place.value.parts;
  // Whoever is signed in sees what everybody with the link sees.
  if (room === 's' && secret !== undefined) return <SharedPage key={secret} secret={secret} />;
  if (person.value === undefined) return <SignInPage />;
  return (
    <>
      <Shell>
        <Page />
      </Shell>
      {waiting.value !== undefined && <EditsQuestion />}
      {isExpired.value && <SignInDialog />}
    </>
  );
}
