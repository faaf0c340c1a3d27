import { metReason, ruleText } from '../../../../shared/run-rules/rule-text.ts';
import type { Experiment } from '../api/answers.ts';
import { useShowMore } from '../ui/show-more.tsx';
import { isFinal } from '../ui/states/status.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { LongText } from '../ui/text/long-text.tsx';

type Watching = Experiment['rules'][number];

/** Rules that watch a run, and the one that ended it. */
export function RunRules({ experiment }: { experiment: Experiment }) {
  const { rules, status } = experiment;
  const isMet = ({ met }: Watching) => met !== null;
  const sorted = [...rules.filter(isMet), ...rules.filter((rule) => !isMet(rule))];
  const [shown, more] = useShowMore(sorted, 6, 'rules');
  if (rules.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="rules">
      <h2 id="rules">Rules</h2>
      <ul class="rules small">
        {shown.map((one) => (
          <li key={`${one.of} ${ruleText(one.rule)}`}>
            <code>{ruleText(one.rule)}</code>
            <p class="soft">
              {one.rule.do === 'stop' ? 'Stops the run' : 'Tells the hooks'}
              {one.of === 'project' && ', a rule of the project'}.
              {one.met === null && (isFinal(status) ? ' It was not met.' : ' Not met so far.')}
            </p>
            {one.met !== null && (
              <p class={hasEnded(experiment, one) ? 'fault' : ''}>
                {hasEnded(experiment, one) ? 'Ended this run' : 'Met'} <Ago time={one.met.at} />:{' '}
                <LongText text={one.met.reason} />
              </p>
            )}
          </li>
        ))}
      </ul>
      {more}
    </section>
  );
}

/** Whether a run ended by a rule: its reason is that of the rule. Several rules can be met at the same time. */
const hasEnded = ({ status, status_reason }: Experiment, { rule, met }: Watching): boolean =>
  isFinal(status) &&
  met !== null &&
  rule.do === 'stop' &&
  status_reason?.startsWith(metReason(rule, met.reason)) === true;
