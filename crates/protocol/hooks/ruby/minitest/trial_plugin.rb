# A plugin that minitest finds by RUBYLIB: one more reporter beside the project's own.
require_relative '../trial_record'

module Minitest
  class TrialReporter < AbstractReporter
    def initialize(records)
      super()
      @records = records
      @ran = 0
    end

    def record(result)
      Trial.guard do
        failure = result.failures.reject { |one| one.is_a?(Minitest::Skip) }.first
        kind = failure ? 'failed' : result.skipped? ? 'skipped' : 'passed'
        @ran += 1 unless kind == 'skipped'
        group = result.respond_to?(:klass) ? result.klass : result.class.name
        place = result.respond_to?(:source_location) ? result.source_location : result.method(result.name).source_location
        @records.add(
          name: "#{group}##{result.name}", file: place && @records.relate(place[0]),
          result: kind, message: failure && Trial.shorten(describe(failure))
        )
      end
    end

    def report
      @records.add(ran: @ran)
    end

    private

    def describe(failure)
      error = failure.respond_to?(:error) ? failure.error : failure
      return failure.message if error.is_a?(Minitest::Assertion) && !failure.is_a?(Minitest::UnexpectedError)

      "#{error.class}: #{error.message}"
    end
  end

  def self.plugin_trial_init(_options)
    Trial.guard do
      records = Trial::Records.open('minitest')
      reporter << TrialReporter.new(records) if records
    end
  end
end
