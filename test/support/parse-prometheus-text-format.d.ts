declare module "parse-prometheus-text-format" {
  export default function parse(text: string): Family[];
  interface Family {
    name: string;
    help: string;
    type: "COUNTER" | "GAUGE" | "HISTOGRAM";
    metrics: {
      labels?: Record<string, string>;
      value?: string;
    }[];
  }
}
