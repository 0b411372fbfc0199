/** What an answer is worth at a glance: each in a colour, an icon and words. */
import type { Answer } from "../types";
import { Icon, type IconName } from "../ui/Icon";
import { LEVEL_WORDS, figure, level, plain, type Level } from "../words";

const TONES = {
  good: "bg-good-soft text-good",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  plain: "bg-sunken text-muted",
};
type Tone = keyof typeof TONES;

const LEVELS: Record<Level, { tone: Tone; icon: IconName }> = {
  high: { tone: "good", icon: "check" },
  medium: { tone: "warn", icon: "circle" },
  low: { tone: "bad", icon: "alert" },
};
const STATUSES: Record<string, { tone: Tone; icon: IconName; words: string }> = {
  STATUS_ANSWERED: { tone: "good", icon: "check", words: "Every statement verified" },
  STATUS_PARTIAL: { tone: "warn", icon: "alert", words: "In part: some was dropped" },
  STATUS_ABSTAINED: { tone: "plain", icon: "circle", words: "No answer given" },
};
const COMPLIANCE: Record<string, { tone: Tone; icon: IconName }> = {
  COMPLIANCE_COMPLIANT: { tone: "good", icon: "check" },
  COMPLIANCE_NON_COMPLIANT: { tone: "bad", icon: "cross" },
  COMPLIANCE_UNKNOWN: { tone: "warn", icon: "circle" },
};

function Badge({ tone, icon, children }: { tone: Tone; icon: IconName; children: string }) {
  return (
    <span className={`chip font-medium ${TONES[tone]}`}>
      <Icon name={icon} size={14} />
      {children}
    </span>
  );
}

export function Badges({ answer }: { answer: Answer }) {
  const confidence = answer.confidence?.grounding_confidence ?? 0;
  const how = level(confidence);
  const status = STATUSES[answer.status];
  const compliance = COMPLIANCE[answer.compliance];
  return (
    <>
      {answer.status !== "STATUS_ABSTAINED" && (
        <Badge {...LEVELS[how]}>{`${LEVEL_WORDS[how]} ${figure(confidence)}`}</Badge>
      )}
      {status && <Badge {...status}>{status.words}</Badge>}
      {compliance && (
        <Badge {...compliance}>{`Compliance: ${plain(answer.compliance, "COMPLIANCE_")}`}</Badge>
      )}
      {answer.degraded && (
        <Badge icon="alert" tone="warn">
          Drafted without the model
        </Badge>
      )}
      {answer.memory_degraded && (
        <Badge icon="alert" tone="warn">
          Not stored
        </Badge>
      )}
    </>
  );
}
