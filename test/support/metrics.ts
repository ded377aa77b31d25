import parsePrometheusTextFormat from "parse-prometheus-text-format";

/** Reads metrics as Prometheus does, with a parser that is not ours. */
export function readMetrics(text: string) {
  const families = parsePrometheusTextFormat(text);
  return {
    text,
    families,
    /** The sum of a counter or gauge over what has these labels among others, if there is any. */
    sum(name: string, labels: Record<string, string> = {}): number | null {
      const found = (families.find((family) => family.name === name)?.metrics ?? []).filter(
        (metric) => Object.entries(labels).every(([key, value]) => metric.labels?.[key] === value),
      );
      if (found.length === 0) return null;
      return found.reduce((total, { value }) => total + Number(value), 0);
    },
  };
}
