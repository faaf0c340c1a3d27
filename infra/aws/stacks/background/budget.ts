import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { Construct } from 'constructs';
import type { DeploymentOptions } from '../../options/deployment-options.ts';

/**
 * Send a mail when the month's actual or forecast cost exceeds the budget. Budgets without actions are free. The
 * budget covers the whole account: a filter by tag matches nothing until the tag is activated for billing.
 */
export function addBudget(
  scope: Construct,
  { name, alarmEmail, monthlyBudget }: Pick<DeploymentOptions, 'name' | 'alarmEmail' | 'monthlyBudget'>,
): void {
  if (alarmEmail === undefined) return;
  const subscribers = [{ subscriptionType: 'EMAIL', address: alarmEmail }];
  new CfnBudget(scope, 'Budget', {
    budget: {
      budgetName: `${name}-monthly-cost`,
      budgetType: 'COST',
      timeUnit: 'MONTHLY',
      budgetLimit: { amount: monthlyBudget, unit: 'USD' },
    },
    notificationsWithSubscribers: ['ACTUAL', 'FORECASTED'].map((notificationType) => ({
      notification: {
        notificationType,
        comparisonOperator: 'GREATER_THAN',
        threshold: 100,
        thresholdType: 'PERCENTAGE',
      },
      subscribers,
    })),
  });
}
