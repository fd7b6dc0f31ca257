# Listens to RSpec beside its formatters.
require_relative 'trial_record'

module Trial
  class SpecListener
    NOTES = %i[example_passed example_failed example_pending message stop].freeze

    def initialize(records)
      @records = records
      @ran = 0
    end

    def example_passed(note)
      write(note.example, 'passed')
    end

    def example_pending(note)
      write(note.example, 'skipped')
    end

    def example_failed(note)
      error = note.example.execution_result.exception
      unmet = error.class.name.to_s.end_with?('ExpectationNotMetError')
      write(note.example, 'failed', error && (unmet ? error.message : "#{error.class}: #{error.message}"))
    end

    # What is said of files that did not load.
    def message(note)
      Trial.guard do
        found = note.message.to_s.gsub(/\e\[[0-9;]*m/, '').match(/An error occurred while loading (\S+?)\.?\s(.*)/m)
        if found
          line = found[2].lines.map(&:strip).find { |one| one =~ /\A\S*(Error|Exception)\b/ && !one.start_with?('Failure/Error') }
          path = found[1]
          after = found[2].lines.map(&:strip).each_cons(2).find { |one, _| one =~ /\A\S*(Error|Exception):\z/ }
          said = after ? after.join(' ') : line
          @records.add(unloaded: @records.relate(path) || path, message: Trial.shorten(said) || 'it did not load')
        end
      end
    end

    def stop(_note)
      @records.add(ran: @ran)
    end

    private

    def write(example, result, message = nil)
      Trial.guard do
        @ran += 1 unless result == 'skipped'
        file = @records.relate(example.metadata[:absolute_file_path] || example.file_path)
        @records.add(
          name: [file, example.full_description].compact.join(' > '),
          file: file, result: result, message: Trial.shorten(message)
        )
      end
    end
  end

  # The first to ask for the reporter is RSpec itself, when the project's formatters are known: asked
  # for earlier, the default one would come on top of them.
  module SpecReporter
    def reporter
      super.tap do |found|
        unless @trial_asked || !found.respond_to?(:register_listener)
          @trial_asked = true
          Trial.guard do
            records = dry_run? ? nil : Records.open('rspec')
            found.register_listener(SpecListener.new(records), *SpecListener::NOTES) if records
          end
        end
      end
    end
  end
end

Trial.guard { RSpec::Core::Configuration.prepend(Trial::SpecReporter) } if defined?(RSpec::Core::Configuration)
